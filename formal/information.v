(** Mutual information and entropy.

    The natural logarithm of real numbers turns products into sums, and it lies below its
    tangent at one and touches it there only.  Nothing else is used of [ln].  [rel a b] is
    [a * ln (a / b)], zero for [a = 0]; all statements come from one tangent. *)
From pmlbook Require Import base leakage designs hamming distortions ordered.

Section Information.

Variable R : realFieldType.
Variable ln : R -> R.
Hypothesis ln_mul : forall a b, 0 < a -> 0 < b -> ln (a * b) = ln a + ln b.
Hypothesis ln_le : forall a, 0 < a -> ln a <= a - 1.
Hypothesis ln_touches : forall a, 0 < a -> ln a = a - 1 -> a = 1.

Definition rel (a b : R) : R := a * ln (a / b).

Lemma ln1 : ln 1 = 0.
Proof. by apply: (addrI (ln 1)); rewrite -ln_mul ?mulr1 ?addr0 ?ltr01. Qed.

Lemma lnV a : 0 < a -> ln a^-1 = - ln a.
Proof.
by move=> a0; apply: (addrI (ln a)); rewrite -ln_mul ?invr_gt0 // mulfV ?lt0r_neq0 // ln1 subrr.
Qed.

Lemma ln_div a b : 0 < a -> 0 < b -> ln (a / b) = ln a - ln b.
Proof. by move=> a0 b0; rewrite ln_mul ?invr_gt0 // lnV. Qed.

(** The tangent of [rel] where the ratio is [s]. *)
Lemma tangent a b s : 0 <= a -> 0 <= b -> (b = 0 -> a = 0) -> 0 < s ->
  a * ln s + a - b * s <= rel a b.
Proof.
rewrite le_eqVlt => /orP [/eqP <- b0 _ s0|a0 b0 ab s0].
  by rewrite /rel !mul0r !add0r oppr_le0 mulr_ge0 // ltW.
have {b0} b0 : 0 < b.
  by rewrite lt_neqAle b0 andbT eq_sym; apply: contraTneq a0 => /ab ->; rewrite ltxx.
rewrite /rel ln_div // -subr_ge0.
have bs : 0 < b * s / a by rewrite divr_gt0 ?mulr_gt0.
have -> : a * (ln a - ln b) - (a * ln s + a - b * s) = a * (b * s / a - 1 - ln (b * s / a)).
  by rewrite ln_div ?mulr_gt0 // ln_mul //; field; apply: lt0r_neq0.
by rewrite mulr_ge0 ?subr_ge0 ?ln_le // ltW.
Qed.

(** Sums: the sum of [rel] is at least [rel] of the sums. *)
Lemma log_sum (I : finType) (a b : I -> R) :
  (forall i, 0 <= a i) -> (forall i, 0 <= b i) -> (forall i, b i = 0 -> a i = 0) ->
  rel (\sum_i a i) (\sum_i b i) <= \sum_i rel (a i) (b i).
Proof.
move=> a0 b0 ab; set A := \sum_i a i; set B := \sum_i b i.
have A0 : 0 <= A by apply: sumr_ge0.
have B0 : 0 <= B by apply: sumr_ge0.
move: A0; rewrite le_eqVlt => /orP [/eqP A0|A0].
  rewrite /rel -A0 mul0r big1 // => i _; move/esym/eqP: A0; rewrite psumr_eq0 //.
  by move/allP/(_ i); rewrite mem_index_enum => /(_ isT) /eqP ->; rewrite mul0r.
have {B0} B0 : 0 < B.
  rewrite lt_neqAle B0 andbT eq_sym; apply: contraTneq A0 => /eqP; rewrite psumr_eq0 //.
  move=> /allP zero; rewrite /A big1 ?ltxx // => i _; apply: ab; apply/eqP.
  by have := zero i; rewrite mem_index_enum => /(_ isT).
have s0 : 0 < A / B by rewrite divr_gt0.
apply: (@le_trans _ _ (\sum_i (a i * ln (A / B) + a i - b i * (A / B)))).
  rewrite sumrB big_split -!mulr_suml /= -/A -/B /rel [B * _]mulrC divfK ?lt0r_neq0 //.
  by rewrite addrK.
by apply: ler_sum => i _; apply: tangent => //; apply: ab.
Qed.

Lemma log_sum2 a b c d : 0 <= a -> 0 <= b -> 0 <= c -> 0 <= d ->
  (b = 0 -> a = 0) -> (d = 0 -> c = 0) -> rel (a + c) (b + d) <= rel a b + rel c d.
Proof.
move=> a0 b0 c0 d0 ab cd.
have := @log_sum _ (fun i : bool => if i then a else c) (fun i : bool => if i then b else d).
by rewrite !big_bool /=; apply; case.
Qed.

Lemma rel_scaled t a b : 0 <= t -> rel (t * a) (t * b) = t * rel a b.
Proof.
rewrite le_eqVlt => /orP [/eqP <-|t0]; first by rewrite /rel !mul0r.
by rewrite /rel -mulrA invfM mulrACA divff ?lt0r_neq0 // mul1r.
Qed.

Section Channel.

Variable X : finType.

(** The part of an outcome in the mutual information, and the whole. *)
Definition informs (p v : X -> R) : R := \sum_x p x * rel (v x) (mean p v).

Definition information (p : X -> R) (Y : finType) (P : Y -> X -> R) : R :=
  \sum_y informs p (P y).

Lemma no_mean (p v : X -> R) x : (forall z, 0 <= p z) -> (forall z, 0 <= v z) -> 0 < p x ->
  mean p v = 0 -> v x = 0.
Proof.
move=> p0 v0 px /eqP; rewrite /mean psumr_eq0 => [/allP /(_ x)|z _]; last exact: mulr_ge0.
by rewrite mem_index_enum mulf_eq0 gt_eqF //= => /(_ isT) /eqP.
Qed.

Lemma mean_mix (p v w : X -> R) a b :
  mean p (fun x => a * v x + b * w x) = a * mean p v + b * mean p w.
Proof. by rewrite /mean !mulr_sumr -big_split; apply: eq_bigr => x _ /=; ring. Qed.

Lemma informs_sublinear (p : X -> R) : (forall x, 0 <= p x) -> sublinear (informs p).
Proof.
move=> p0; split=> [v w vw|a v a0 v0|v w v0 w0].
- have vwm : mean p v = mean p w by apply: eq_bigr => x _; rewrite vw.
  by apply: eq_bigr => x _; rewrite vw vwm.
- rewrite /informs mulr_sumr; apply: eq_bigr => x _.
  have -> : mean p (fun z => a * v z) = a * mean p v.
    by rewrite /mean mulr_sumr; apply: eq_bigr => z _; rewrite mulrCA.
  by rewrite rel_scaled // mulrCA.
rewrite /informs -big_split; apply: ler_sum => x _ /=.
have -> : mean p (fun z => v z + w z) = mean p v + mean p w.
  by rewrite /mean -big_split; apply: eq_bigr => z _; rewrite /= mulrDr.
rewrite -mulrDr; have := p0 x; rewrite le_eqVlt => /orP [/eqP <-|px]; first by rewrite !mul0r.
by apply: ler_wpmul2l; rewrite ?p0 // log_sum2 ?mean_ge0 //; apply: no_mean.
Qed.

(** Definition 4 of the first paper, for two utilities: mutual information is a sum of a
    sub-linear function of the columns, and so is the best gain of finitely many actions. *)
Theorem grosse_def_4 (p : X -> R) : (forall x, 0 <= p x) ->
  sublinear (informs p) /\
  forall (A : finType) (g : X -> A -> R) (best : (X -> R) -> R),
    (forall v a, \sum_x p x * g x a * v x <= best v) ->
    (forall v, exists a, best v = \sum_x p x * g x a * v x) -> sublinear best.
Proof.
move=> p0; split=> [|A g best top reached]; first exact: informs_sublinear.
have same v w : v =1 w -> best v <= best w.
  move=> vw; have [a ->] := reached v; apply: le_trans (top w a).
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => x _; rewrite vw.
have scaled_sum a t v : \sum_x p x * g x a * (t * v x) = t * \sum_x p x * g x a * v x.
  by rewrite mulr_sumr; apply: eq_bigr => x _; rewrite mulrCA.
split=> [v w vw|t v t0 _|v w _ _].
- by apply/eqP; rewrite eq_le !same // => x; rewrite vw.
- apply/eqP; rewrite eq_le; apply/andP; split.
    have [a ->] := reached (fun x => t * v x); rewrite scaled_sum.
    by apply: ler_wpmul2l.
  by have [a ->] := reached v; rewrite -scaled_sum; apply: top.
have [a ->] := reached (fun x => v x + w x).
under eq_bigr => x _ do rewrite mulrDr.
by rewrite big_split; apply: ler_add; apply: top.
Qed.

Lemma information_convex (p : X -> R) (Y : finType) (P Q : Y -> X -> R) h : 0 <= h <= 1 ->
  (forall x, 0 <= p x) -> (forall y x, 0 <= P y x) -> (forall y x, 0 <= Q y x) ->
  information p (fun y x => h * P y x + (1 - h) * Q y x)
    <= h * information p P + (1 - h) * information p Q.
Proof.
move=> /andP [h0 h1] p0 P0 Q0; have h1' : 0 <= 1 - h by rewrite subr_ge0.
have sub := informs_sublinear p0.
rewrite /information !mulr_sumr -big_split; apply: ler_sum => y _ /=.
rewrite -!(scaled sub) //; apply: (added sub) => x; exact: mulr_ge0.
Qed.

(** Information about another mean: [m] in place of the column's own. *)
Lemma other_mean (p v : X -> R) m : (forall x, 0 <= p x) -> (forall x, 0 <= v x) ->
  (m = 0 -> mean p v = 0) -> 0 <= m ->
  \sum_x p x * rel (v x) m = informs p v + rel (mean p v) m.
Proof.
move=> p0 v0 m_zero m0; have mv0 : 0 <= mean p v by apply: mean_ge0.
have -> : rel (mean p v) m = \sum_x p x * (v x * ln (mean p v / m)).
  by rewrite /rel {1}/mean mulr_suml; apply: eq_bigr => x _; rewrite mulrA.
rewrite -big_split; apply: eq_bigr => x _ /=; rewrite -mulrDr.
have := p0 x; rewrite le_eqVlt => /orP [/eqP <-|px]; first by rewrite !mul0r.
have := v0 x; rewrite le_eqVlt => /orP [/eqP vx|vx]; first by rewrite /rel -vx !mul0r addr0.
congr (_ * _); rewrite /rel -mulrDr; congr (_ * _).
have mv : 0 < mean p v.
  rewrite lt_neqAle mv0 andbT eq_sym; apply: contraTneq vx => /(no_mean p0 v0 px) ->.
  by rewrite ltxx.
have {m0} m0 : 0 < m.
  by rewrite lt_neqAle m0 andbT eq_sym; apply: contraTneq mv => /m_zero ->; rewrite ltxx.
by rewrite !ln_div //; ring.
Qed.

(** Concave in the prior. *)
Lemma information_concave (p r : X -> R) (Y : finType) (P : Y -> X -> R) h : 0 <= h <= 1 ->
  (forall x, 0 <= p x) -> (forall x, 0 <= r x) -> \sum_x p x = 1 -> \sum_x r x = 1 ->
  mechanism P ->
  h * information p P + (1 - h) * information r P
    <= information (fun x => h * p x + (1 - h) * r x) P.
Proof.
move=> /andP [h0 h1] p0 r0 p1 r1 [P0 P1]; have h1' : 0 <= 1 - h by rewrite subr_ge0.
pose s x := h * p x + (1 - h) * r x.
have mean_s y : mean s (P y) = h * mean p (P y) + (1 - h) * mean r (P y).
  rewrite /mean !mulr_sumr -big_split; apply: eq_bigr => x _ /=; rewrite /s; ring.
have means (t : X -> R) : \sum_x t x = 1 -> \sum_y mean t (P y) = 1.
  move=> t1; rewrite /mean exchange_big /= -[RHS]t1; apply: eq_bigr => x _.
  by rewrite -mulr_sumr P1 mulr1.
have mean0 (t : X -> R) y : (forall x, 0 <= t x) -> 0 <= mean t (P y).
  by move=> t0; apply: mean_ge0.
have mean_s0 y : 0 <= mean s (P y) by rewrite mean_s addr_ge0 ?mulr_ge0 ?mean0.
have gain (t : X -> R) u : 0 <= u -> (forall x, 0 <= t x) -> \sum_x t x = 1 ->
    (forall y, u * mean t (P y) <= mean s (P y)) ->
    u * information t P <= u * \sum_y \sum_x t x * rel (P y x) (mean s (P y)).
  rewrite le_eqVlt => /orP [/eqP <-|u0] t0 t1 below; first by rewrite !mul0r.
  have dominated y : mean s (P y) = 0 -> mean t (P y) = 0.
    move=> ms; apply/eqP; rewrite eq_le mean0 // andbT.
    by rewrite -(pmulr_rle0 _ u0) -ms.
  apply: ler_wpmul2l; first exact: ltW.
  under [X in _ <= X]eq_bigr => y _ do
    rewrite (other_mean t0 (P0 y) (dominated y) (mean_s0 y)).
  rewrite big_split /= ler_addl.
  have := log_sum (a := fun y => mean t (P y)) (b := fun y => mean s (P y)).
  rewrite !means // => [total|]; last first.
    by rewrite /s big_split -!mulr_sumr /= p1 r1 !mulr1 addrC subrK.
  have one : rel 1 1 = 0 by rewrite /rel divr1 ln1 mulr0.
  apply: (@le_trans _ _ (rel 1 1)); first by rewrite one.
  by apply: total => // y; apply: mean0.
have -> : information s P = h * (\sum_y \sum_x p x * rel (P y x) (mean s (P y)))
    + (1 - h) * \sum_y \sum_x r x * rel (P y x) (mean s (P y)).
  rewrite /information /informs !mulr_sumr -big_split; apply: eq_bigr => y _ /=.
  by rewrite !mulr_sumr -big_split; apply: eq_bigr => x _ /=; rewrite /s; ring.
apply: ler_add; apply: gain => // y; rewrite mean_s.
  by rewrite ler_addl mulr_ge0 ?mean0.
by rewrite ler_addr mulr_ge0 ?mean0.
Qed.

End Channel.

Section Records.

(** A record with the values [A], the others with the values [B], and outcomes [Y].  [w] is the
    marginal of the record, [k (a, b)] the chance of the others given it, [q (y, (a, b))] the
    channel. *)
Variables A B Y : finType.
Implicit Types (w : A -> R) (k : A * B -> R) (q : Y * (A * B) -> R).

Definition distribution (T : finType) (p : T -> R) : Prop :=
  (forall t, 0 <= p t) /\ \sum_t p t = 1.
Definition table k : Prop := (forall e, 0 <= k e) /\ (forall a, \sum_b k (a, b) = 1).
Definition channel q : Prop := (forall e, 0 <= q e) /\ (forall e, \sum_y q (y, e) = 1).

(** The noisy line from the record to the outcome, and [I(X_i; Y)]. *)
Definition rows k q (y : Y) (a : A) : R := \sum_b k (a, b) * q (y, (a, b)).
Definition learns w k q : R := information w (rows k q).

Definition mixture_of (T : Type) (h : R) (u v : T -> R) (t : T) : R := h * u t + (1 - h) * v t.

Lemma same_information w (P Q : Y -> A -> R) : (forall a, 0 <= w a) -> (forall y, P y =1 Q y) ->
  information w P = information w Q.
Proof.
by move=> w0 PQ; apply: eq_bigr => y _; apply: (respects (informs_sublinear w0)).
Qed.

Lemma rows_ge0 k q : (forall e, 0 <= k e) -> (forall e, 0 <= q e) -> forall y a, 0 <= rows k q y a.
Proof. by move=> k0 q0 y a; apply: sumr_ge0 => b _; apply: mulr_ge0. Qed.

(** Theorem 1 of the fourth paper: what is learnt of a record is concave in its marginal,
    convex in the whole table of conditionals, and convex in the channel. *)
Theorem wu_thm_1 (h : R) : 0 <= h <= 1 ->
  [/\ forall w v k q, distribution w -> distribution v -> table k -> channel q ->
        h * learns w k q + (1 - h) * learns v k q <= learns (mixture_of h w v) k q,
      forall w k l q, distribution w -> table k -> table l -> channel q ->
        learns w (mixture_of h k l) q <= h * learns w k q + (1 - h) * learns w l q
    & forall w k q r, distribution w -> table k -> channel q -> channel r ->
        learns w k (mixture_of h q r) <= h * learns w k q + (1 - h) * learns w k r].
Proof.
move=> h01; split.
- move=> w v k q [w0 w1] [v0 v1] [k0 k1] [q0 q1]; apply: information_concave => //.
  split=> [y a|a]; first exact: rows_ge0.
  rewrite /rows exchange_big /= -[RHS](k1 a); apply: eq_bigr => b _.
  by rewrite -mulr_sumr q1 mulr1.
- move=> w k l q [w0 w1] [k0 k1] [l0 l1] [q0 q1]; rewrite /learns.
  rewrite (same_information (Q := fun y a => h * rows k q y a + (1 - h) * rows l q y a)) //.
    by apply: information_convex => // y a; apply: rows_ge0.
  move=> y a; rewrite /rows !mulr_sumr -big_split; apply: eq_bigr => b _ /=.
  by rewrite /mixture_of; ring.
move=> w k q r [w0 w1] [k0 k1] [q0 q1] [r0 r1]; rewrite /learns.
rewrite (same_information (Q := fun y a => h * rows k q y a + (1 - h) * rows k r y a)) //.
  by apply: information_convex => // y a; apply: rows_ge0.
move=> y a; rewrite /rows !mulr_sumr -big_split; apply: eq_bigr => b _ /=.
by rewrite /mixture_of; ring.
Qed.

Definition entropy (T : finType) (p : T -> R) : R := - \sum_t p t * ln (p t).

Lemma entropy_concave (T : finType) (p r : T -> R) h : 0 <= h <= 1 ->
  (forall t, 0 <= p t) -> (forall t, 0 <= r t) ->
  h * entropy p + (1 - h) * entropy r <= entropy (mixture_of h p r).
Proof.
move=> h01 p0 r0; have [h0 h1] := andP h01; have h1' : 0 <= 1 - h by rewrite subr_ge0.
rewrite /entropy !mulrN -opprD ler_opp2 !mulr_sumr -big_split; apply: ler_sum => t _ /=.
have one a : a * ln a = rel a 1 by rewrite /rel divr1.
rewrite !one -!rel_scaled // !mulr1.
have zero g u : g = 0 -> g * u = 0 by move=> ->; rewrite mul0r.
have := @log_sum2 (h * p t) h ((1 - h) * r t) (1 - h).
by rewrite [h + (1 - h)]addrC subrK; apply; rewrite ?mulr_ge0 //; apply: zero.
Qed.

Definition convex (T : Type) (C : (T -> R) -> Prop) : Prop :=
  forall u v h, 0 <= h <= 1 -> C u -> C v -> C (mixture_of h u v).

(** The belief with a marginal and a table. *)
Definition belief w k (e : A * B) : R := w e.1 * k e.

Lemma same_entropy (T : finType) (p r : T -> R) : p =1 r -> entropy p = entropy r.
Proof. by move=> pr; congr (- _); apply: eq_bigr => t _; rewrite pr. Qed.

Lemma mixed_ge0 (T : Type) (u v : T -> R) h : 0 <= h <= 1 -> (forall t, 0 <= u t) ->
  (forall t, 0 <= v t) -> forall t, 0 <= mixture_of h u v t.
Proof. by case/andP=> h0 h1 u0 v0 t; rewrite addr_ge0 ?mulr_ge0 ?subr_ge0. Qed.

Lemma mixed_sum (T : finType) (u v : T -> R) h : \sum_t u t = 1 -> \sum_t v t = 1 ->
  \sum_t mixture_of h u v t = 1.
Proof. by move=> u1 v1; rewrite big_split -!mulr_sumr /= u1 v1 !mulr1 addrC subrK. Qed.

Lemma between (b x y z h : R) : 0 <= h <= 1 -> b <= x -> b <= y -> h * x + (1 - h) * y <= z -> b <= z.
Proof.
case/andP=> h0 h1 bx by_ /(le_trans _); apply.
have {1}-> : b = h * b + (1 - h) * b by ring.
by apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0.
Qed.

(** Theorem 2 of the fourth paper: the beliefs of entropy at least [b] are a convex set; for a
    fixed marginal the tables are, for a fixed table the marginals, and for a fixed belief the
    channels that teach at most [L]. *)
Theorem wu_thm_2 (b L : R) :
  [/\ convex (fun p : A * B -> R => distribution p /\ b <= entropy p),
      forall w, distribution w -> convex (fun k => table k /\ b <= entropy (belief w k)),
      forall k, table k -> convex (fun w => distribution w /\ b <= entropy (belief w k))
    & forall w k, distribution w -> table k -> convex (fun q => channel q /\ learns w k q <= L)].
Proof.
split.
- move=> p r h h01 [[p0 p1] pb] [[r0 r1] rb]; split.
    by split; [apply: mixed_ge0 | apply: mixed_sum].
  by apply: (between h01 pb rb); apply: entropy_concave.
- move=> w [w0 w1] k l h h01 [[k0 k1] kb] [[l0 l1] lb]; split.
    split; first exact: mixed_ge0.
    by move=> a; apply: (mixed_sum (u := fun t => k (a, t)) (v := fun t => l (a, t))).
  apply: (between h01 kb lb).
  rewrite (@same_entropy _ (belief w (mixture_of h k l)) (mixture_of h (belief w k) (belief w l))).
    by apply: entropy_concave => // e; apply: mulr_ge0.
  by move=> e; rewrite /belief /mixture_of; ring.
- move=> k [k0 k1] w v h h01 [[w0 w1] wb] [[v0 v1] vb]; split.
    by split; [apply: mixed_ge0 | apply: mixed_sum].
  apply: (between h01 wb vb).
  rewrite (@same_entropy _ (belief (mixture_of h w v) k) (mixture_of h (belief w k) (belief v k))).
    by apply: entropy_concave => // e; apply: mulr_ge0.
  by move=> e; rewrite /belief /mixture_of; ring.
move=> w k w_dist k_table q r h h01 [q_ch qL] [r_ch rL]; split.
  have [q0 q1] := q_ch; have [r0 r1] := r_ch; split; first exact: mixed_ge0.
  by move=> e; apply: (mixed_sum (u := fun y => q (y, e)) (v := fun y => r (y, e))).
have [_ _ third] := wu_thm_1 h01; apply: le_trans (third w k q r _ _ _ _) _ => //.
have [h0 h1] := andP h01; have {1}-> : L = h * L + (1 - h) * L by ring.
by apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0.
Qed.

End Records.

(** Gibbs' inequality: information is not negative, and where it is zero, all secrets that the
    prior allows have the same chance of each outcome. *)
Lemma touch a b : 0 <= a -> 0 <= b -> (b = 0 -> a = 0) -> rel a b = a - b -> a = b.
Proof.
rewrite le_eqVlt => /orP [/eqP <- _ _|a0 b0 ab].
  by rewrite /rel mul0r sub0r => /eqP; rewrite eq_sym oppr_eq0 => /eqP ->.
have {b0} b0 : 0 < b.
  by rewrite lt_neqAle b0 andbT eq_sym; apply: contraTneq a0 => /ab ->; rewrite ltxx.
rewrite /rel => ab1; have : ln (b / a) = b / a - 1.
  have ratio : a * (b / a - 1) = b - a by field; apply: lt0r_neq0.
  apply: (mulfI (lt0r_neq0 a0)); rewrite ratio ln_div //.
  by apply: oppr_inj; rewrite opprB -ab1 ln_div //; ring.
move/(ln_touches (divr_gt0 b0 a0)) => /(congr1 (fun t => t * a)).
by rewrite divfK ?lt0r_neq0 // mul1r.
Qed.

Lemma rel_tangent a b : 0 <= a -> 0 <= b -> (b = 0 -> a = 0) -> a - b <= rel a b.
Proof. by move=> a0 b0 ab; have := tangent a0 b0 ab ltr01; rewrite ln1 mulr0 add0r mulr1. Qed.

Lemma gibbs (X Y : finType) (p : X -> R) (P : Y -> X -> R) : (forall x, 0 <= p x) ->
  \sum_x p x = 1 -> (forall y x, 0 <= P y x) ->
  0 <= information p P /\
  (information p P = 0 -> forall y x, 0 < p x -> P y x = mean p (P y)).
Proof.
move=> p0 p1 P0; pose gap y x := p x * (rel (P y x) (mean p (P y)) - (P y x - mean p (P y))).
have gap0 y x : 0 <= gap y x.
  have := p0 x; rewrite /gap le_eqVlt => /orP [/eqP <-|px]; first by rewrite mul0r.
  by rewrite mulr_ge0 // subr_ge0 rel_tangent ?mean_ge0 //; apply: no_mean.
have total : information p P = \sum_y \sum_x gap y x.
  apply: eq_bigr => y _; rewrite /gap; under eq_bigr => x _ do rewrite mulrBr.
  rewrite sumrB -[LHS]subr0; congr (_ - _); under eq_bigr => x _ do rewrite mulrBr.
  by rewrite sumrB -mulr_suml p1 mul1r subrr.
split=> [|zero y x px].
  by rewrite total; apply: sumr_ge0 => y _; apply: sumr_ge0.
move/eqP: zero; rewrite total psumr_eq0 => [/allP /(_ y)|z _]; last exact: sumr_ge0.
rewrite mem_index_enum => /(_ isT) /=; rewrite psumr_eq0 // => /allP /(_ x).
rewrite mem_index_enum => /(_ isT) /=; rewrite mulf_eq0 gt_eqF //= subr_eq0 => /eqP.
by apply: touch; rewrite ?mean_ge0 //; apply: no_mean.
Qed.

Section OrderedSources.

Variable n : nat.
Variable S : ('I_n.+2 -> R) -> Prop.
Hypothesis S_ge0 : forall P, S P -> forall i, 0 <= P i.
Hypothesis S_sum : forall P, S P -> \sum_i P i = 1.
Hypothesis S_ordered : forall P, S P -> forall i j : 'I_n.+2, (i <= j)%N -> P j <= P i.

(** Lemma 6 of the third paper: a valid mechanism without mutual information exists exactly if
    the distortion allows to publish the likeliest symbol always. *)
Theorem kalantari_lem_6 (D : R) :
  (exists2 Q, valid S D Q & forall P, S P -> information P Q = 0)
    <-> (forall P, S P -> 1 - P ord0 <= D).
Proof.
split=> [[Q [[Q0 Q1] Q_D] silent] P P_in|enough]; last first.
  exists (@constant R n ord0); first split; first exact: constant_mechanism.
    by move=> P P_in; rewrite constant_valid ?enough // S_sum.
  move=> P P_in; rewrite /information big1 // => y _; rewrite /informs big1 // => x _.
  have -> : mean P (@constant R n ord0 y) = (y == ord0)%:R by rewrite /mean -mulr_suml S_sum // mul1r.
  by rewrite /rel /constant; case: (y == ord0); rewrite ?mul0r ?mulr0 // divr1 ln1 !mulr0.
apply: le_trans (Q_D P P_in); have P0 := S_ge0 P_in; have P1 := S_sum P_in.
have [_ /(_ (silent P P_in)) same] := gibbs P0 P1 Q0.
have -> : \sum_x P x * (1 - Q x x) = 1 - \sum_x P x * mean P (Q x).
  under eq_bigr => x _ do rewrite mulrBr mulr1; rewrite sumrB P1; congr (_ - _).
  apply: eq_bigr => x _; have := P0 x; rewrite le_eqVlt => /orP [/eqP <-|px].
    by rewrite !mul0r.
  by rewrite (same x x px).
rewrite ler_add2l ler_opp2.
have means : \sum_y mean P (Q y) = 1.
  rewrite /mean exchange_big /= -[RHS]P1; apply: eq_bigr => x _.
  by rewrite -mulr_sumr Q1 mulr1.
rewrite -[P ord0]mulr1 -means mulr_sumr; apply: ler_sum => x _.
by apply: ler_wpmul2r; [apply: mean_ge0 | apply: (S_ordered P_in)].
Qed.

End OrderedSources.

Section FlatSources.

Variable X : finType.
Hypothesis two : (1 < #|X|)%N.
Let M : R := #|X|%:R.
Variable S : (X -> R) -> Prop.
Hypothesis S_ge0 : forall P, S P -> forall x, 0 <= P x.
Hypothesis S_sum : forall P, S P -> \sum_x P x = 1.

(** [v] is the least information under the worst mixture of the source set. *)
Definition least_information (D v : R) : Prop :=
  (exists2 Q, valid S D Q & forall P, hull S P -> information P Q <= v) /\
  (forall Q, valid S D Q -> exists2 P, hull S P & v <= information P Q).

Lemma hull_distribution P : hull S P -> (forall x, 0 <= P x) /\ \sum_x P x = 1.
Proof.
move=> [m [t [T [t0 t1 T_in PE]]]]; split=> [x|].
  by rewrite PE; apply: sumr_ge0 => i _; apply: mulr_ge0 => //; apply: S_ge0 (T_in i) x.
rewrite (eq_bigr _ (fun x _ => PE x)) exchange_big /= -[RHS]t1; apply: eq_bigr => i _.
by rewrite -mulr_sumr (S_sum (T_in i)) mulr1.
Qed.

Lemma ln_mono a b : 0 < a -> a <= b -> ln a <= ln b.
Proof.
move=> a0 ab; have b0 : 0 < b by apply: lt_le_trans ab.
rewrite -subr_le0 -ln_div //; apply: le_trans (ln_le (divr_gt0 a0 b0)) _.
by rewrite subr_le0 ler_pdivr_mulr // mul1r.
Qed.

(** Lemma 5 of the third paper, (23): the entropies there are [- D * ln D - (1 - D) * ln (1 - D)]
    and [D * ln (M - 1)]. *)
Theorem kalantari_lem_5 (D : R) : hull S (fun=> M^-1) -> 0 < D <= 1 ->
  (D < (M - 1) / M ->
     least_information D (ln M - (- D * ln D - (1 - D) * ln (1 - D)) - D * ln (M - 1))) /\
  ((M - 1) / M <= D -> least_information D 0).
Proof.
move=> flat /andP [D0 D1].
have M0 : 0 < M by rewrite ltr0n ltnW.
have M10 : 0 < M - 1 by rewrite subr_gt0 ltr1n.
have MV0 : 0 < M^-1 by rewrite invr_gt0.
split=> [small|large]; last first.
  split; last first.
    move=> Q [[Q0 Q1] _]; exists (fun=> M^-1) => //.
    have [f0 f1] := hull_distribution flat.
    by have [] := gibbs f0 f1 Q0.
  have [_ /(_ large) [[Q Q_valid Q_same] _]] := kalantari_thm_1 two S_sum flat (introT andP (conj D0 D1)).
  exists Q => // P /hull_distribution [P0 P1].
  rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: big1 => y _; apply: big1 => x _.
  have same z : Q y z = Q y x.
    apply/eqP; rewrite eq_le; have := Q_same y z x; have := Q_same y x z.
    by rewrite !mul1r => -> ->.
  have -> : mean P (Q y) = Q y x.
    by rewrite /mean; under eq_bigr => z _ do rewrite same; rewrite -mulr_suml P1 mul1r.
  rewrite /rel; have [->|q0] := eqVneq (Q y x) 0; first by rewrite mul0r mulr0.
  by rewrite divff // ln1 !mulr0.
have D1' : 0 < 1 - D.
  rewrite subr_gt0; apply: lt_trans small _; rewrite ltr_pdivr_mulr // mul1r.
  by rewrite ltr_subl_addr ltr_addl ltr01.
pose a := 1 - D; pose b := D / (M - 1).
have b0 : 0 < b by rewrite divr_gt0.
pose v := ln M + a * ln a + D * ln b.
have -> : ln M - (- D * ln D - (1 - D) * ln (1 - D)) - D * ln (M - 1) = v.
  by rewrite /v /b ln_div // -/a; ring.
pose W := symmetric (X := X) D.
have W0 y x : 0 < W y x by rewrite /W /symmetric; case: ifP.
have D_in : 0 <= D <= 1 by rewrite ltW.
have [_ W1] := symmetric_mechanism two D_in.
have ba : b <= a.
  rewrite /b /a ler_pdivr_mulr // -subr_ge0.
  have -> : (1 - D) * (M - 1) - D = M * ((M - 1) / M - D) by field; apply: lt0r_neq0.
  by rewrite mulr_ge0 ?subr_ge0 // ltW.
have row (f : R -> R) x : \sum_y f (W y x) = f a + (M - 1) * f b.
  rewrite (bigD1 x) //= {1}/W /symmetric eqxx; congr (_ + _).
  rewrite (eq_bigr (fun=> f b)) => [|y /negPf yx]; last by rewrite /W /symmetric yx.
  exact: others.
split.
  have valid_W : valid S D W.
    split; first exact: symmetric_mechanism.
    move=> P /S_sum P1; under eq_bigr => x _ do rewrite /W /symmetric eqxx subKr.
    by rewrite -mulr_suml P1 mul1r.
  exists W => // P /hull_distribution [P0 P1].
  have b_le y x : b <= W y x by rewrite /W /symmetric; case: ifP.
  have m_gt0 y : 0 < mean P (W y).
    apply: lt_le_trans b0 _; rewrite -[b]mul1r -P1 mulr_suml; apply: ler_sum => x _.
    exact: ler_wpmul2l.
  have m_one : \sum_y mean P (W y) = 1.
    rewrite /mean exchange_big /= -[RHS]P1; apply: eq_bigr => x _.
    by rewrite -mulr_sumr W1 mulr1.
  have -> : information P W = a * ln a + D * ln b - \sum_y mean P (W y) * ln (mean P (W y)).
    transitivity (\sum_y (\sum_x P x * (W y x * ln (W y x)) - mean P (W y) * ln (mean P (W y)))).
      apply: eq_bigr => y _; set m := mean P (W y).
      have -> : m * ln m = \sum_x P x * W y x * ln m by rewrite -mulr_suml.
      rewrite -sumrB; apply: eq_bigr => x _.
      by rewrite /rel ln_div ?m_gt0 // -/m; ring.
    rewrite sumrB exchange_big /=; congr (_ - _).
    under eq_bigr => x _ do rewrite -mulr_sumr (row (fun t => t * ln t)).
    by rewrite -mulr_suml P1 mul1r mulrA /b [(M - 1) * _]mulrC divfK ?lt0r_neq0.
  have : - ln M <= \sum_y mean P (W y) * ln (mean P (W y)).
    rewrite -lnV // -[M^-1]mul1r -[ln _]mul1r -{1 2}m_one.
    have -> : M = \sum_(y : X) 1 by rewrite sumr_const.
    apply: le_trans (log_sum _ _ _) _ => [y|y|y one|].
    - exact: ltW.
    - exact: ler01.
    - by move/eqP: one; rewrite oner_eq0.
    by apply: ler_sum => y _; rewrite /rel divr1.
  rewrite -subr_ge0 opprK /v => more; rewrite -subr_ge0.
  by move: more; congr (0 <= _); ring.
move=> Q Q_valid; exists (fun=> M^-1) => //.
have [[Q0 Q1] _] := Q_valid.
pose t := \sum_x M^-1 * (1 - Q x x).
have t_le : t <= D by have [_] := (kalantari_lem_2 S D Q).1 Q_valid; apply.
pose q y := mean (fun=> M^-1) (Q y).
have flat0 (x : X) : 0 <= M^-1 by apply: ltW.
have q0 y : 0 <= q y by apply: mean_ge0.
have q1 : \sum_y q y = 1.
  rewrite /q /mean exchange_big /=; under eq_bigr => x _ do rewrite -mulr_sumr Q1 mulr1.
  by rewrite sumr_const -[_ *+ _]mulr_natr mulVf // lt0r_neq0.
have W_col y : \sum_x W y x = 1.
  by rewrite -(W1 y); apply: eq_bigr => x _; rewrite /W /symmetric eq_sym.
have s0 y x : 0 < M * W y x by apply: mulr_gt0.
pose low y x := M^-1 * (Q y x * ln (M * W y x)).
apply: (@le_trans _ _ (\sum_y \sum_x (low y x + M^-1 * Q y x - q y * W y x))); last first.
  apply: ler_sum => y _; apply: ler_sum => x _.
  have -> : low y x + M^-1 * Q y x - q y * W y x
      = M^-1 * (Q y x * ln (M * W y x) + Q y x - q y * (M * W y x)).
    by rewrite /low; field; apply: lt0r_neq0.
  by apply: ler_wpmul2l; [apply: ltW | apply: tangent => //; apply: no_mean].
have -> : \sum_y \sum_x (low y x + M^-1 * Q y x - q y * W y x) = \sum_y \sum_x low y x.
  transitivity (\sum_y (\sum_x low y x + q y - q y)); last first.
    by apply: eq_bigr => y _; rewrite addrK.
  apply: eq_bigr => y _; rewrite sumrB big_split /=; congr (_ + _ - _).
  by rewrite -mulr_sumr W_col mulr1.
have -> : \sum_y \sum_x low y x = ln M + (1 - t) * ln a + t * ln b.
  have each x : \sum_y low y x = M^-1 * ln M + (M^-1 - M^-1 * (1 - Q x x)) * ln a
      + M^-1 * (1 - Q x x) * ln b.
    have -> : \sum_y low y x
        = M^-1 * (ln M * (\sum_y Q y x) + \sum_y Q y x * ln (W y x)).
      rewrite !mulr_sumr -big_split mulr_sumr; apply: eq_bigr => y _ /=.
      by rewrite /low ln_mul //; ring.
    rewrite Q1 [\sum_y Q y x * _](bigD1 x) //= {1}/W /symmetric eqxx -/a.
    rewrite (eq_bigr (fun y => Q y x * ln b)) => [|y /negPf yx]; last first.
      by rewrite /W /symmetric yx.
    have -> : \sum_(y | y != x) Q y x * ln b = (1 - Q x x) * ln b.
      by rewrite -mulr_suml -(Q1 x) [in RHS](bigD1 x) //= [Q x x + _]addrC addrK.
    ring.
  rewrite exchange_big /=; under eq_bigr => x _ do rewrite each.
  rewrite !big_split /= -!mulr_suml sumrB -/t sumr_const -[_ *+ _]mulr_natr mulVf ?lt0r_neq0 //.
  by rewrite mul1r.
rewrite /v -subr_ge0.
have -> : ln M + (1 - t) * ln a + t * ln b - (ln M + a * ln a + D * ln b)
    = (D - t) * (ln a - ln b) by rewrite /a; ring.
by rewrite mulr_ge0 ?subr_ge0 // ln_mono.
Qed.

End FlatSources.

End Information.
