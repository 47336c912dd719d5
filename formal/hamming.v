(** The third paper: local differential privacy under a Hamming distortion, against every
    distribution of a source set.

    [Q y x] is the chance to publish [y] for the symbol [x], and [1 - Q x x] its distortion. *)
From pmlbook Require Import base designs.

Section Sources.

Variable R : realFieldType.
Variable X : finType.

(** Definition 3: each entry of a column is at most [c] times every other. *)
Definition private (Y : finType) (c : R) (Q : Y -> X -> R) : Prop :=
  forall y x z, Q y x <= c * Q y z.

(** Definition 2, for a source set [S]. *)
Definition valid (S : (X -> R) -> Prop) (D : R) (Q : X -> X -> R) : Prop :=
  mechanism Q /\ forall P, S P -> \sum_x P x * (1 - Q x x) <= D.

(** Definition 4: [c] is the least level of a valid mechanism, and one has it. *)
Definition least (S : (X -> R) -> Prop) (D c : R) : Prop :=
  (exists2 Q, valid S D Q & private c Q) /\
  (forall Q d, valid S D Q -> private d Q -> c <= d).

(** Mixtures of distributions of [S]. *)
Definition hull (S : (X -> R) -> Prop) (P : X -> R) : Prop :=
  exists (n : nat) (t : 'I_n -> R) (T : 'I_n -> X -> R),
    [/\ forall i, 0 <= t i, \sum_i t i = 1, forall i, S (T i)
      & forall x, P x = \sum_i t i * T i x].

(** Lemma 1 of the third paper: a mixture of two mechanisms keeps a level that both keep. *)
Theorem kalantari_lem_1 (Y : finType) (c t : R) (A B : Y -> X -> R) : 0 <= t <= 1 ->
  private c A -> private c B -> private c (fun y x => t * A y x + (1 - t) * B y x).
Proof.
case/andP=> t0 t1 A_c B_c y x z.
rewrite mulrDr [c * (t * _)]mulrCA [c * ((1 - t) * _)]mulrCA.
by apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0.
Qed.

(** Lemma 2 of the third paper: what is valid for a source set is valid for its mixtures. *)
Theorem kalantari_lem_2 (S : (X -> R) -> Prop) (D : R) (Q : X -> X -> R) :
  valid S D Q <-> valid (hull S) D Q.
Proof.
split=> [[Q_mech Q_D]|[Q_mech Q_D]]; split=> // P.
  move=> [n [t [T [t_ge0 t_one T_in PE]]]].
  have -> : \sum_x P x * (1 - Q x x) = \sum_i t i * \sum_x T i x * (1 - Q x x).
    under eq_bigr => x _ do rewrite PE mulr_suml.
    rewrite exchange_big /=; apply: eq_bigr => i _.
    by rewrite mulr_sumr; apply: eq_bigr => x _; rewrite mulrA.
  have -> : D = \sum_i t i * D by rewrite -mulr_suml t_one mul1r.
  apply: ler_sum => i _.
  by apply: ler_wpmul2l => //; apply: Q_D.
move=> P_in; apply: Q_D; exists 1%N, (fun=> 1), (fun=> P); split=> [_|||x];
  by rewrite ?ler01 ?big_ord1 ?mul1r.
Qed.

(** Lemma 3 of the third paper: with more outcomes than symbols the others are merged into
    one symbol's, and neither level nor distortion rises.  [name] embeds the symbols. *)
Theorem kalantari_lem_3 (Y : finType) (name : X -> Y) (x0 : X) (c : R) (Q : Y -> X -> R) :
  injective name -> mechanism Q -> private c Q ->
  let merged x z := Q (name x) z
    + if x == x0 then \sum_(y | y \notin codom name) Q y z else 0 in
  [/\ mechanism merged, private c merged
    & forall P : X -> R, (forall x, 0 <= P x) ->
        \sum_x P x * (1 - merged x x) <= \sum_x P x * (1 - Q (name x) x)].
Proof.
move=> name_inj [Q_ge0 Q_one] Q_c merged.
have more_ge0 x z : 0 <= if x == x0 then \sum_(y | y \notin codom name) Q y z else 0.
  by case: ifP => _ //; apply: sumr_ge0.
split.
- split=> [x z|z]; first exact: addr_ge0.
  rewrite big_split /= -big_mkcond big_pred1_eq -[RHS](Q_one z) [RHS](bigID (mem (codom name))) /=.
  by congr (_ + _); rewrite -[RHS]big_uniq ?big_map ?big_enum //= map_inj_uniq // enum_uniq.
- move=> x u v; rewrite mulrDr; apply: ler_add; first exact: Q_c.
  case: ifP => _; last by rewrite mulr0.
  by rewrite mulr_sumr; apply: ler_sum => y _; apply: Q_c.
move=> P P_ge0; apply: ler_sum => x _; apply: ler_wpmul2l => //.
by rewrite ler_add2l ler_opp2 ler_addl.
Qed.

(** So a least level holds against mechanisms with more outcomes than symbols too. *)
Theorem more_outcomes_do_not_help (S : (X -> R) -> Prop) (D c d : R) (Y : finType)
    (name : X -> Y) (x0 : X) (Q : Y -> X -> R) :
  (forall P, S P -> forall x, 0 <= P x) -> least S D c -> injective name ->
  mechanism Q -> private d Q -> (forall P, S P -> \sum_x P x * (1 - Q (name x) x) <= D) ->
  c <= d.
Proof.
move=> S_ge0 [_ low] name_inj Q_mech Q_d Q_D.
have [m_mech m_d m_D] := kalantari_lem_3 x0 name_inj Q_mech Q_d.
apply: low m_d; split=> // P P_in; exact: le_trans (m_D P (S_ge0 P P_in)) (Q_D P P_in).
Qed.

(** Remark 3 of the third paper: at a finite level a column is zero or positive throughout;
    and no level is below [ln 1]. *)
Theorem kalantari_rem_3 (Y : finType) (c : R) (Q : Y -> X -> R) (x0 : X) :
  mechanism Q -> private c Q ->
  1 <= c /\ forall y, (forall x, Q y x = 0) \/ (forall x, 0 < Q y x).
Proof.
move=> [Q_ge0 Q_one] Q_c; split=> [|y].
  rewrite -[c]mulr1 -(Q_one x0) mulr_sumr.
  by apply: ler_sum => y _; apply: Q_c.
have [x /eqP qx|none] := pickP (fun x => Q y x == 0); [left=> z|right=> x].
  by apply/eqP; rewrite eq_le Q_ge0 andbT; have := Q_c y z x; rewrite qx mulr0.
by rewrite lt_neqAle Q_ge0 andbT eq_sym none.
Qed.

(** The symmetric mechanism (7), with [M] symbols. *)
Definition symmetric (D : R) (y x : X) : R := if y == x then 1 - D else D / (#|X|%:R - 1).

Hypothesis two : (1 < #|X|)%N.
Let M : R := #|X|%:R.
Let M1_gt0 : 0 < M - 1. Proof. by rewrite subr_gt0 ltr1n. Qed.
Let M_gt0 : 0 < M. Proof. by rewrite ltr0n ltnW. Qed.

Lemma symmetric_mechanism (D : R) : 0 <= D <= 1 -> mechanism (symmetric D).
Proof.
case/andP=> D0 D1; split=> [y x|x].
  by rewrite /symmetric; case: ifP => _; rewrite ?subr_ge0 // divr_ge0 // ltW.
rewrite (bigD1 x) //= /symmetric eqxx (eq_bigr (fun=> D / (M - 1))) => [|y /negPf ->] //.
by rewrite others mulrC divfK ?lt0r_neq0 // subrK.
Qed.

(** Below, every distribution of a source set has the sum one. *)
Variable S : (X -> R) -> Prop.
Hypothesis S_sum : forall P, S P -> \sum_x P x = 1.

(** The mechanism (7): its distortion is [D] under every distribution, and it keeps exactly
    the levels that bound both ratios of its two entries. *)
Theorem kalantari_eq_7 (D c : R) : 0 <= D <= 1 -> 1 <= c ->
  [/\ mechanism (symmetric D), forall P, S P -> \sum_x P x * (1 - symmetric D x x) = D
    & private c (symmetric D) <->
      (M - 1) * (1 - D) <= c * D /\ D <= c * ((M - 1) * (1 - D))].
Proof.
move=> D_in c_ge1; split; first exact: symmetric_mechanism.
  move=> P /S_sum P_one; under eq_bigr => x _ do rewrite /symmetric eqxx subKr.
  by rewrite -mulr_suml P_one mul1r.
have [x [z xz]] : exists x z : X, x != z.
  by have /card_gt1P [x [z [_ _ xz]]] := two; exists x, z.
have c_gt0 : 0 < c := lt_le_trans ltr01 c_ge1.
have E1 : (1 - D <= c * (D / (M - 1))) = ((M - 1) * (1 - D) <= c * D).
  by rewrite mulrA ler_pdivl_mulr // mulrC.
have E2 : (D / (M - 1) <= c * (1 - D)) = (D <= c * ((M - 1) * (1 - D))).
  by rewrite ler_pdivr_mulr // -mulrA [_ * (M - 1)]mulrC.
split=> [Q_c|[h1 h2] y u v].
  have := Q_c x x z; have := Q_c x z x; rewrite /symmetric eqxx (negPf xz) -/M E1 E2.
  by split.
have [mech_ge0 _] := symmetric_mechanism D_in.
have grow a : 0 <= a -> a <= c * a by move=> a0; rewrite ler_pemull.
have [D0 D1] := andP D_in.
rewrite /symmetric -/M; case: ifP => _; case: ifP => _; rewrite ?E1 ?E2 //.
  by apply: grow; rewrite subr_ge0.
by apply: grow; apply: divr_ge0 => //; apply: ltW.
Qed.

(** The row of a symbol: it publishes the others at least as often as [c] allows. *)
Lemma row_bound (c : R) (Q : X -> X -> R) x : mechanism Q -> private c Q ->
  \sum_(y | y != x) Q y y <= c * (1 - Q x x).
Proof.
move=> [Q_ge0 Q_one] Q_c; rewrite -(Q_one x) [in X in c * X](bigD1 x) //=.
rewrite [Q x x + _]addrC addrK mulr_sumr.
by apply: ler_sum => y _; apply: Q_c.
Qed.

(** Theorem 1 of the third paper: if the mixtures of the source set include the uniform
    distribution, the least level is that of the symmetric mechanism, and zero from
    [(M - 1) / M] on. *)
Theorem kalantari_thm_1 (D : R) : hull S (fun=> M^-1) -> 0 < D <= 1 ->
  (D < (M - 1) / M -> least S D ((M - 1) * ((1 - D) / D))) /\
  ((M - 1) / M <= D -> least S D 1).
Proof.
move=> flat /andP [D0 D1]; split=> [small|large].
  have D_in : 0 <= D <= 1 by rewrite ltW.
  set c := (M - 1) * _.
  have cD : c * D = (M - 1) * (1 - D) by rewrite /c -mulrA divfK // lt0r_neq0.
  have c_ge1 : 1 <= c.
    rewrite -(ler_pmul2r D0) cD mul1r -subr_ge0.
    have -> : (M - 1) * (1 - D) - D = M * ((M - 1) / M - D) by field; apply: lt0r_neq0.
    by rewrite mulr_ge0 ?subr_ge0 // ltW.
  split.
    have [Q_mech Q_D Q_c] := kalantari_eq_7 D_in c_ge1.
    exists (symmetric D); first by split=> // P P_in; rewrite Q_D.
    have more : D <= c * D by rewrite ler_pemull // ltW.
    apply/Q_c; rewrite cD; split=> //; rewrite -cD; apply: (le_trans more).
    by rewrite ler_pemull // (le_trans _ more) // ltW.
  move=> Q d /kalantari_lem_2 [Q_mech /(_ _ flat) Q_D] Q_d.
  rewrite -(ler_pmul2r D0) cD.
  set T := \sum_x Q x x.
  have T_ge : M * (1 - D) <= T.
    move: Q_D; rewrite -mulr_sumr sumrB sumr_const -/M -/T ler_pdivr_mull //.
    by rewrite ler_subl_addr -ler_subl_addl mulrBr mulr1.
  have rows : (M - 1) * T <= d * (M - T).
    have -> : M - T = \sum_x (1 - Q x x) by rewrite sumrB sumr_const.
    have -> : (M - 1) * T = \sum_x (T - Q x x).
      by rewrite sumrB sumr_const -mulr_natl mulrBl mul1r.
    rewrite mulr_sumr; apply: ler_sum => x _; apply: le_trans (row_bound x Q_mech Q_d).
    by rewrite /T (bigD1 x) //= addrC addKr.
  have [x0 _] : exists x : X, true by have /card_gt1P [x _] := two; exists x.
  have [d_ge1 _] := kalantari_rem_3 x0 Q_mech Q_d.
  rewrite -(ler_pmul2l M_gt0) mulrCA; apply: (@le_trans _ _ ((M - 1) * T)).
    by apply: ler_wpmul2l => //; apply: ltW.
  apply: le_trans rows _; rewrite mulrCA; apply: ler_wpmul2l; first exact: le_trans d_ge1.
  by rewrite ler_subl_addr -ler_subl_addl; move: T_ge; rewrite mulrBr mulr1.
have [x0 _] : exists x : X, true by have /card_gt1P [x _] := two; exists x.
split; last by move=> Q d [Q_mech _] /(kalantari_rem_3 x0 Q_mech) [].
exists (fun _ _ => M^-1); last by move=> *; rewrite mul1r.
split=> [|P /S_sum P_one].
  split=> [y x|x]; first by rewrite invr_ge0 ltW.
  by rewrite sumr_const -mulr_natr mulVf // lt0r_neq0.
rewrite -mulr_suml P_one mul1r; apply: le_trans large.
by rewrite mulrBl divff ?lt0r_neq0 // mul1r.
Qed.

End Sources.
