(** Linear inequalities: they have a solution, or they contradict each other.

    From this follows the minimax theorem for a polytope and finitely many linear functions. *)
From pmlbook Require Import base.

Section Alternative.

Variable R : realFieldType.

(** Fourier and Motzkin: the unknowns outside [U] occur in no inequality; one of [U] is
    eliminated after the other.  Inequalities that no [x] solves have a combination that
    reads [0 < 0]. *)
Lemma alternative (V : finType) (U : {set V}) (I : finType) (A : I -> V -> R) (b : I -> R) :
  (forall i v, v \notin U -> A i v = 0) ->
  (exists x : V -> R, forall i, \sum_v A i v * x v <= b i) \/
  (exists y : I -> R, [/\ forall i, 0 <= y i, forall v, \sum_i y i * A i v = 0
                        & \sum_i y i * b i < 0]).
Proof.
have [m] := ubnP #|U|; elim: m U I A b => // m IH U I A b; rewrite ltnS => small out.
have [U0|[v0 v0U]] := set_0Vmem U.
  have A0 i v : A i v = 0 by rewrite out // U0 inE.
  have [/forallP b_ge0|] := boolP [forall i, 0 <= b i].
    by left; exists (fun=> 0) => i; rewrite big1 // => v _; rewrite mulr0.
  rewrite negb_forall => /existsP [i bi]; right; exists (fun k => (k == i)%:R); split.
  - by move=> k; exact: ler0n.
  - by move=> v; rewrite big1 // => k _; rewrite A0 mulr0.
  rewrite (bigD1 i) //= eqxx mul1r big1 ?addr0 ?ltNge // => k /negPf ->.
  by rewrite mul0r.
pose a i := A i v0.
(** A pair of inequalities makes one without [v0]. *)
pose s (k : I * I) : R :=
  if a k.1 == 0 then 1 else if (0 < a k.1) && (a k.2 < 0) then - a k.2 else 0.
pose t (k : I * I) : R := if (0 < a k.1) && (a k.2 < 0) then a k.1 else 0.
have s_ge0 k : 0 <= s k.
  rewrite /s; case: ifP => [_|_]; first exact: ler01.
  by case: ifP => // /andP [_ neg]; rewrite oppr_ge0 ltW.
have t_ge0 k : 0 <= t k by rewrite /t; case: ifP => // /andP [/ltW].
have gone k : s k * a k.1 + t k * a k.2 = 0.
  rewrite /s /t; case: eqP => [->|_]; first by rewrite ltxx /= mulr0 mul0r addr0.
  by case: ifP => _; rewrite ?mul0r ?addr0 // mulNr mulrC addNr.
have [||[x x_solves]|[y [y_ge0 y_zero y_neg]]] := IH (U :\ v0) _
  (fun k v => s k * A k.1 v + t k * A k.2 v) (fun k => s k * b k.1 + t k * b k.2).
- by apply: leq_trans small; rewrite [X in (_ < X)%N](cardsD1 v0) v0U.
- move=> k v; rewrite in_setD1 negb_and negbK => /orP [/eqP ->|vU]; first exact: gone.
  by rewrite !(out _ v vU) !mulr0 addr0.
- left; pose q i := \sum_(v | v != v0) A i v * x v; pose r i := b i - q i.
  have known k : s k * q k.1 + t k * q k.2 <= s k * b k.1 + t k * b k.2.
    apply: le_trans (x_solves k); rewrite [X in _ <= X](bigD1 v0) //= -/(a k.1) -/(a k.2).
    rewrite gone mul0r add0r /q !mulr_sumr -big_split /= le_eqVlt; apply/orP; left; apply/eqP.
    by apply: eq_bigr => v _; ring.
  have r_flat i : a i = 0 -> 0 <= r i.
    move=> ai; have := known (i, i); rewrite /s /t /= ai eqxx ltxx /= !mul0r !addr0 !mul1r.
    by rewrite subr_ge0.
  have r_pair i j : 0 < a i -> a j < 0 -> 0 <= - a j * r i + a i * r j.
    move=> pos neg; have := known (i, j); rewrite /s /t /= gt_eqF // pos neg /=.
    rewrite -subr_ge0 /r => /le_trans; apply; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
  suff [z z_fits] : exists z, forall i, a i * z <= r i.
    exists (fun v => if v == v0 then z else x v) => i; rewrite (bigD1 v0) //= eqxx.
    rewrite -ler_subr_addr; apply: le_trans (z_fits i) _; rewrite /r /q ler_add2l ler_opp2.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => v /negPf ->.
  case: (pickP (fun i => a i < 0)) => [j0 j0_neg|no_neg]; last first.
    case: (pickP (fun i => 0 < a i)) => [i0 i0_pos|no_pos]; last first.
      exists 0 => i; rewrite mulr0; apply: r_flat; apply/eqP.
      by rewrite eq_le leNgt no_pos /= leNgt no_neg.
    case: (@arg_minP _ _ _ i0 (fun i => 0 < a i) (fun i => r i / a i) i0_pos) => i pos least.
    exists (r i / a i) => k; case: (ltrgtP 0 (a k)) => [k_pos|k_neg|k0].
    + by rewrite mulrC -ler_pdivl_mulr //; apply: least.
    + by have := no_neg k; rewrite k_neg.
    + by rewrite -k0 mul0r; apply: r_flat.
  case: (@arg_maxP _ _ _ j0 (fun i => a i < 0) (fun i => r i / a i) j0_neg) => j neg most.
  exists (r j / a j) => k; case: (ltrgtP 0 (a k)) => [k_pos|k_neg|k0].
  + rewrite mulrA ler_ndivr_mulr // -subr_ge0.
    have := r_pair k j k_pos neg; move/le_trans; apply; rewrite le_eqVlt; apply/orP; left.
    by apply/eqP; ring.
  + by rewrite mulrC -ler_ndivr_mulr //; apply: most.
  + by rewrite -k0 mul0r; apply: r_flat.
right; exists (fun i => \sum_(k : I * I) y k * (s k * (k.1 == i)%:R + t k * (k.2 == i)%:R)).
have pick (k : I) (f : I -> R) : \sum_i (k == i)%:R * f i = f k.
  by rewrite (bigD1 k) //= eqxx mul1r big1 ?addr0 // => i /negPf; rewrite eq_sym => ->; rewrite mul0r.
have combine (f : I -> R) :
    \sum_i (\sum_(k : I * I) y k * (s k * (k.1 == i)%:R + t k * (k.2 == i)%:R)) * f i =
    \sum_k y k * (s k * f k.1 + t k * f k.2).
  under eq_bigr => i _ do rewrite mulr_suml.
  rewrite exchange_big /=; apply: eq_bigr => k _.
  rewrite -[in RHS](pick k.1 f) -[in RHS](pick k.2 f) !mulr_sumr -big_split mulr_sumr /=.
  by apply: eq_bigr => i _; ring.
split=> [i|v|]; rewrite ?combine //.
by apply: sumr_ge0 => k _; rewrite !(mulr_ge0, addr_ge0) ?ler0n.
Qed.

End Alternative.

Section Minimax.

Variable R : realFieldType.
Variable V : finType.
Implicit Types x : V -> R.

(** Linear functions of [x]. *)
Definition linear (f : (V -> R) -> R) : Prop := exists a : V -> R, forall x, f x = \sum_v a v * x v.

Lemma linear_at v : linear (fun x => x v).
Proof.
exists (fun u => (u == v)%:R) => x.
by rewrite (bigD1 v) //= eqxx mul1r big1 ?addr0 // => u /negPf ->; rewrite mul0r.
Qed.

Lemma linear_scale k f : linear f -> linear (fun x => k * f x).
Proof.
move=> [a fE]; exists (fun v => k * a v) => x.
by rewrite fE mulr_sumr; apply: eq_bigr => v _; rewrite mulrA.
Qed.

Lemma linear_opp f : linear f -> linear (fun x => - f x).
Proof.
move=> [a fE]; exists (fun v => - a v) => x.
by rewrite fE -sumrN; apply: eq_bigr => v _; rewrite mulNr.
Qed.

Lemma linear_add f g : linear f -> linear g -> linear (fun x => f x + g x).
Proof.
move=> [a fE] [b gE]; exists (fun v => a v + b v) => x.
by rewrite fE gE -big_split; apply: eq_bigr => v _; rewrite mulrDl.
Qed.

Lemma linear_sum (K : finType) (C : pred K) (f : K -> (V -> R) -> R) :
  (forall k, linear (f k)) -> linear (fun x => \sum_(k | C k) f k x).
Proof.
move=> /fin_all_exists [a fE]; exists (fun v => \sum_(k | C k) a k v) => x.
rewrite (eq_bigr _ (fun k _ => fE k x)) exchange_big.
by apply: eq_bigr => v _; rewrite mulr_suml.
Qed.

(** The minimax theorem of von Neumann.  The inequalities [f] describe a polytope [K]; [g] are
    finitely many functions.  If for each mixture of these some [x] in [K] keeps it within [D],
    then one [x] in [K] keeps all of them within [D]. *)
Theorem minimax (I J : finType) (f : I -> (V -> R) -> R) (b : I -> R)
    (g : J -> (V -> R) -> R) (D : R) :
  (forall i, linear (f i)) -> (forall j, linear (g j)) ->
  (exists x, forall i, f i x <= b i) ->
  (forall w : J -> R, (forall j, 0 <= w j) -> \sum_j w j = 1 ->
    exists2 x, forall i, f i x <= b i & \sum_j w j * g j x <= D) ->
  exists2 x, forall i, f i x <= b i & forall j, g j x <= D.
Proof.
move=> /fin_all_exists [A fE] /fin_all_exists [B gE] [x0 x0_in] mixed.
pose C (k : I + J) := match k with inl i => A i | inr j => B j end.
pose e (k : I + J) := match k with inl i => b i | inr _ => D end.
have [k v|[x x_solves]|[y [y_ge0 y_zero y_neg]]] := alternative (U := [set: V]) (A := C) e.
- by rewrite inE.
- by exists x => [i|j]; [rewrite fE (x_solves (inl i)) | rewrite gE (x_solves (inr j))].
have sides (h : I + J -> R) : \sum_k h k = \sum_i h (inl i) + \sum_j h (inr j) by rewrite big_sumType.
have value x : \sum_i y (inl i) * f i x + \sum_j y (inr j) * g j x = 0.
  transitivity (\sum_v (\sum_k y k * C k v) * x v); last first.
    by rewrite big1 // => v _; rewrite y_zero mul0r.
  under [RHS]eq_bigr => v _ do rewrite mulr_suml.
  rewrite exchange_big sides /=; congr (_ + _); apply: eq_bigr => k _.
    by rewrite fE mulr_sumr; apply: eq_bigr => v _; rewrite mulrA.
  by rewrite gE mulr_sumr; apply: eq_bigr => v _; rewrite mulrA.
move: y_neg; rewrite sides /= -mulr_suml; set s := \sum_j y (inr j) => y_neg.
have inside x : (forall i, f i x <= b i) -> \sum_i y (inl i) * f i x <= \sum_i y (inl i) * b i.
  by move=> x_in; apply: ler_sum => i _; apply: ler_wpmul2l.
have s_ge0 : 0 <= s by apply: sumr_ge0.
have [s0|s_neq0] := eqVneq s 0.
  have := inside x0 x0_in; have := value x0; rewrite [X in _ + X]big1 => [|j _]; last first.
    have /psumr_eq0P zero := s0; by rewrite zero ?mul0r.
  by rewrite addr0 => ->; rewrite leNgt; move: y_neg; rewrite s0 mul0r addr0 => ->.
have s_gt0 : 0 < s by rewrite lt_neqAle eq_sym s_neq0.
have [j||x x_in x_D] := mixed (fun j => y (inr j) / s).
- by rewrite divr_ge0.
- by rewrite -mulr_suml divff.
move: y_neg; rewrite ltNge => /negP [].
apply: (@le_trans _ _ (\sum_i y (inl i) * f i x + \sum_j y (inr j) * g j x)).
  by rewrite (value x).
apply: ler_add; first exact: inside.
rewrite -ler_pdivr_mull // mulrC mulr_suml; apply: le_trans x_D; rewrite le_eqVlt.
by apply/orP; left; apply/eqP; apply: eq_bigr => j _; rewrite mulrAC.
Qed.

End Minimax.
