(** Mechanisms of most utility, for every number of secrets and outcomes.

    A mechanism mixes lift vectors [lift y x = P(y | x) / P(y)], whose mean under the prior
    is one, with weights [w y = P(y)] such that each secret has the mean one.  Its utility
    is the mean of a value of each lift vector. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From pmlbook Require Import programme.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Cardinality.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Variable lift : Y -> X -> R.
Variable value : Y -> R.
Hypothesis lift_mean : forall y, \sum_x p x * lift y x = 1.

(** Weights of lift vectors that make a mechanism: all are mixed to one. *)
Definition mechanism (w : Y -> R) : Prop :=
  (forall y, 0 <= w y) /\ (forall x, \sum_y w y * lift y x = 1).

Definition support (w : Y -> R) : {set Y} := [set y | w y != 0].

Definition utility (w : Y -> R) : R := \sum_y w y * value y.

(** More outcomes than secrets depend linearly, so one can be dropped at no loss. *)
Lemma fewer (w : Y -> R) : mechanism w -> (#|X| < #|support w|)%N ->
  exists w', [/\ mechanism w', utility w <= utility w' & (#|support w'| < #|support w|)%N].
Proof.
move=> [w_ge0 w_one] more.
have dependent : ~~ row_free (table lift (support w)).
  by rewrite /row_free neq_ltn (leq_ltn_trans (rank_leq_col _) more).
have w_feas : feasible lift (support w) w.
  by split=> // y; rewrite inE negbK => /eqP.
have normed y : y \in [set: Y] -> \sum_x p x * lift y x = 1 by [].
have [y [w' [yS [w'_ge0 w'_out w'_one] less]]] := shrink value normed (subsetT _) dependent w_feas.
exists w'; split=> //; rewrite [X in (_ < X)%N](cardsD1 y) yS ltnS; apply: subset_leq_card.
by apply/subsetP => z; apply: contraTT => /w'_out w'z; rewrite inE w'z eqxx.
Qed.

(** Theorem 1 of the first paper: no more outcomes than secrets are needed. *)
Theorem grosse_thm_1 (w : Y -> R) : mechanism w ->
  exists w', [/\ mechanism w', utility w <= utility w' & (#|support w'| <= #|X|)%N].
Proof.
have [n] := ubnP #|support w|; elim: n w => // n IH w; rewrite ltnS => small w_mech.
case: (leqP #|support w| #|X|) => [|more]; first by exists w.
have [w1 [w1_mech w1_more w1_less]] := fewer w_mech more.
have [|w2 [w2_mech w2_more w2_few]] := IH w1 _ w1_mech; first exact: leq_trans w1_less small.
by exists w2; split => //; apply: le_trans w2_more.
Qed.

End Cardinality.

Section Optimum.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Hypothesis p_sum : \sum_x p x = 1.
Variable lift : Y -> X -> R.
Variable w : Y -> R.
Hypothesis w_ge0 : forall y, 0 <= w y.
Hypothesis w_one : forall x, \sum_y w y * lift y x = 1.
Hypothesis lift_mean : forall y, \sum_x p x * lift y x = 1.

Lemma weights_sum : \sum_y w y = 1.
Proof.
rewrite -p_sum -[RHS](eq_bigr _ (fun x _ => mulr1 (p x))).
under [RHS]eq_bigr => x _ do rewrite -(w_one x) mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => y _.
rewrite -[LHS]mulr1 -(lift_mean y) mulr_sumr; apply: eq_bigr => x _; ring.
Qed.

(** The bound behind every certificate of optimality: any numbers [u], one for each secret,
    bound the utility of every mechanism. *)
Theorem dual_bound (value : Y -> R) (u : X -> R) (r : R) :
  (forall y, value y - \sum_x u x * lift y x <= r) ->
  \sum_y w y * value y <= \sum_x u x + r.
Proof.
move=> cheap.
apply: (@le_trans _ _ (\sum_y w y * (\sum_x u x * lift y x + r))).
  apply: ler_sum => y _; apply: ler_wpmul2l => //.
  by rewrite -ler_subl_addl; exact: cheap.
under eq_bigr => y _ do rewrite mulrDr.
rewrite big_split -mulr_suml /= weights_sum mul1r ler_add2r.
under eq_bigr => y _ do rewrite mulr_sumr.
rewrite exchange_big /= (eq_bigr u) // => x _.
rewrite -[RHS]mulr1 -(w_one x) mulr_sumr; apply: eq_bigr => y _; ring.
Qed.

Variable c : R.
Hypothesis c_gt1 : 1 < c.

(** Outcome [j] of the high-privacy mechanism has the lift [c] for every secret but [j]. *)
Definition vertex (j x : X) : R := if x == j then (1 - c * (1 - p j)) / p j else c.

Lemma vertex_mean j : \sum_x p x * vertex j x = 1.
Proof.
rewrite (bigD1 j) //= {1}/vertex eqxx.
under eq_bigr => x xj do rewrite /vertex (negPf xj) mulrC.
rewrite -mulr_sumr.
have -> : \sum_(x | x != j) p x = 1 - p j by rewrite -p_sum [in RHS](bigD1 j) //= addrC addKr.
field; exact: lt0r_neq0.
Qed.

Lemma vertex_mixed x : \sum_j p j * vertex j x = 1.
Proof.
rewrite (bigD1 x) //= {1}/vertex eqxx.
under eq_bigr => j jx do rewrite /vertex eq_sym (negPf jx) mulrC.
rewrite -mulr_sumr.
have -> : \sum_(j | j != x) p j = 1 - p x by rewrite -p_sum [in RHS](bigD1 x) //= addrC addKr.
field; exact: lt0r_neq0.
Qed.

(** It keeps the level, and is a mechanism in the first privacy region. *)
Lemma vertex_within j x : vertex j x <= c.
Proof.
rewrite /vertex; case: eqP => // _; rewrite ler_pdivr_mulr //.
have -> : 1 - c * (1 - p j) = c * p j + (1 - c) by ring.
by rewrite -subr_ge0 opprD addrA subrr add0r opprB subr_ge0 ltW.
Qed.

Lemma vertex_ge0 j x : (forall i, c * (1 - p i) <= 1) -> 0 <= vertex j x.
Proof.
move=> region; rewrite /vertex; case: eqP => _; last exact: ltW (lt_trans ltr01 c_gt1).
by apply: divr_ge0; [rewrite subr_ge0 | exact: ltW].
Qed.

(** Every lift vector within the level is a mixture of the vertices. *)
Definition share (q : X -> R) (j : X) : R := p j * (c - q j) / (c - 1).

Lemma c1_neq0 : c - 1 != 0. Proof. by apply: lt0r_neq0; rewrite subr_gt0. Qed.

Lemma share_ge0 q j : (forall x, q x <= c) -> 0 <= share q j.
Proof.
move=> q_within; apply: divr_ge0; last by rewrite subr_ge0 ltW.
by apply: mulr_ge0; [exact: ltW | rewrite subr_ge0].
Qed.

Lemma share_sum q : \sum_x p x * q x = 1 -> \sum_j share q j = 1.
Proof.
move=> q_mean; rewrite /share -mulr_suml.
under eq_bigr => j _ do rewrite mulrBr.
rewrite sumrB q_mean -mulr_suml p_sum mul1r; exact: divff c1_neq0.
Qed.

Lemma share_mixed q x : \sum_x p x * q x = 1 -> \sum_j share q j * vertex j x = q x.
Proof.
move=> q_mean; have one := share_sum q_mean.
rewrite (bigD1 x) //= {1}/vertex eqxx.
under eq_bigr => j jx do rewrite /vertex eq_sym (negPf jx).
rewrite -mulr_suml.
have -> : \sum_(j | j != x) share q j = 1 - share q x.
  by rewrite -one [in RHS](bigD1 x) //= addrC addKr.
rewrite /share; field; rewrite c1_neq0 /=; exact: lt0r_neq0.
Qed.

(** Theorem 3 of the first paper: in the first privacy region the vertices with the weights
    [p] are a mechanism of the level, and no other has more of a convex utility [f]. *)
Theorem grosse_thm_3 (f : (X -> R) -> R) :
  (forall i, c * (1 - p i) <= 1) -> (forall y x, lift y x <= c) ->
  (forall (q a : X -> R), (forall j, 0 <= a j) -> \sum_j a j = 1 ->
     (forall x, \sum_j a j * vertex j x = q x) -> f q <= \sum_j a j * f (vertex j)) ->
  [/\ forall j x, 0 <= vertex j x <= c,
      forall j, \sum_x p x * vertex j x = 1,
      forall x, \sum_j p j * vertex j x = 1
    & \sum_y w y * f (lift y) <= \sum_j p j * f (vertex j)].
Proof.
move=> region within convex; split.
- by move=> j x; rewrite vertex_ge0 //= vertex_within.
- exact: vertex_mean.
- exact: vertex_mixed.
apply: (@le_trans _ _ (\sum_y w y * \sum_j share (lift y) j * f (vertex j))).
  apply: ler_sum => y _; apply: ler_wpmul2l => //; apply: convex.
  - by move=> j; apply: share_ge0.
  - exact: share_sum.
  - by move=> x; exact: share_mixed.
under eq_bigr => y _ do rewrite mulr_sumr.
rewrite exchange_big /= le_eqVlt; apply/orP; left; apply/eqP.
apply: eq_bigr => j _.
under eq_bigr => y _ do rewrite mulrA.
rewrite -mulr_suml; congr (_ * _); rewrite /share.
transitivity (p j / (c - 1) * (c * (\sum_y w y) - \sum_y w y * lift y j)).
  rewrite [RHS]mulrBr mulrA !mulr_sumr -sumrB; apply: eq_bigr => y _; ring.
rewrite weights_sum w_one; field; exact: c1_neq0.
Qed.

End Optimum.
