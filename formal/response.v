(** Randomized response under pointwise maximal leakage, and the polytope of mechanisms. *)
From pmlbook Require Import base leakage designs worst_case.

Section Polytope.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Variable c : R.

(** Lemma 1 of the first paper: a mechanism keeps the level [ln c] exactly if it satisfies the
    linear inequalities (5a).  Its entries lie between zero and one, so the set is bounded, and
    mixtures stay in it. *)
Theorem grosse_lem_1 :
  (forall P : Y -> X -> R, mechanism P ->
     ((forall y, 0 < mean p (P y) -> exists2 d, leaks p (P y) d & d <= c) <->
      (forall y x, P y x - c * (\sum_z p z * P y z) <= 0))
     /\ (forall y x, 0 <= P y x <= 1))
  /\ (forall (A B : Y -> X -> R) h, 0 <= h <= 1 -> mechanism A -> mechanism B ->
        keeps p c A -> keeps p c B ->
        let mix y x := h * A y x + (1 - h) * B y x in mechanism mix /\ keeps p c mix).
Proof.
split=> [P [P_ge0 P_one]|A B h /andP [h0 h1] [A_ge0 A_one] [B_ge0 B_one] A_c B_c mix].
  split=> [|y x]; last first.
    by rewrite P_ge0 -(P_one x) (bigD1 y) //= ler_addl; apply: sumr_ge0.
  have m_ge0 y : 0 <= mean p (P y) by apply: mean_ge0 => // x; apply: ltW.
  split=> [level y x|linear y m_gt0].
    rewrite subr_le0 -/(mean p (P y)); have := m_ge0 y.
    rewrite le_eqVlt => /orP [/eqP /esym m0|/level [d [bound _] dc]]; last first.
      by apply: le_trans (bound x (p_gt0 x)) _; apply: ler_wpmul2r.
    move/eqP: (m0); rewrite psumr_eq0 => [/allP /(_ x)|z _]; last first.
      by apply: mulr_ge0 => //; apply: ltW.
    rewrite mem_index_enum mulf_eq0 gt_eqF //= => /(_ isT) /eqP ->.
    by rewrite m0 mulr0.
  have [x0 _] : exists x : X, true.
    case: (pickP X) => [x _|none]; first by exists x.
    by move: m_gt0; rewrite /mean big_pred0 ?ltxx.
  case: (@arg_maxP _ _ _ x0 xpredT (P y) isT) => x _ top.
  exists (P y x / mean p (P y)); last first.
    by rewrite ler_pdivr_mulr // -subr_le0 linear.
  rewrite /leaks divfK ?lt0r_neq0 //.
  by split=> [z _|]; [apply: top | exists x].
have h1' : 0 <= 1 - h by rewrite subr_ge0.
split=> [|y x].
  split=> [y x|x]; first by rewrite addr_ge0 ?mulr_ge0.
  by rewrite big_split -!mulr_sumr /= A_one B_one !mulr1 addrC subrK.
have -> : mean p (mix y) = h * mean p (A y) + (1 - h) * mean p (B y).
  rewrite /mean !mulr_sumr -big_split; apply: eq_bigr => z _ /=; rewrite /mix; ring.
rewrite mulrDr [c * (h * _)]mulrCA [c * ((1 - h) * _)]mulrCA.
by apply: ler_add; apply: ler_wpmul2l => //; [apply: A_c | apply: B_c].
Qed.

End Polytope.

Section Response.

Variable R : realFieldType.
Variable X : finType.
Variable r : R.
Hypothesis r_ge1 : 1 <= r.

(** Definition 5 of the first paper, (6), with [r] for [e] to the parameter. *)
Definition response (y x : X) : R :=
  if y == x then r / (#|X|%:R - 1 + r) else 1 / (#|X|%:R - 1 + r).

(** (7) and (8): the largest lift of an outcome whose secret has the prior [t]. *)
Definition reveals (t : R) : R := r / ((r - 1) * t + 1).

Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Hypothesis p_sum : \sum_x p x = 1.
Variable rarest : X.
Hypothesis p_rarest : forall x, p rarest <= p x.

Let r_gt0 : 0 < r. Proof. exact: lt_le_trans ltr01 r_ge1. Qed.

Let den_gt0 : 0 < #|X|%:R - 1 + r.
Proof.
by apply: ltr_paddl => //; rewrite subr_ge0 ler1n; apply/card_gt0P; exists rarest.
Qed.

Lemma spread_gt0 t : 0 <= t -> 0 < (r - 1) * t + 1.
Proof. by move=> t0; apply: ltr_paddl; rewrite ?ltr01 ?mulr_ge0 ?subr_ge0. Qed.

(** The probability of an outcome, which is not that of its secret unless the prior is even. *)
Lemma response_mean y : mean p (response y) = ((r - 1) * p y + 1) / (#|X|%:R - 1 + r).
Proof.
rewrite /mean /response (bigD1 y) //= eqxx.
rewrite (eq_bigr (fun x => p x * (1 / (#|X|%:R - 1 + r)))) => [|x]; last first.
  by rewrite eq_sym => /negPf ->.
rewrite -mulr_suml; have -> : \sum_(x | x != y) p x = 1 - p y.
  by rewrite -p_sum [in RHS](bigD1 y) //= addrC addKr.
by rewrite !mulrA -mulrDl; congr (_ / _); ring.
Qed.

Lemma response_leaks y : leaks p (response y) (reveals (p y)).
Proof.
have s_gt0 := spread_gt0 (ltW (p_gt0 y)).
have top : reveals (p y) * mean p (response y) = r / (#|X|%:R - 1 + r).
  by rewrite response_mean /reveals; field; rewrite !lt0r_neq0.
rewrite /leaks top /response; split; last by exists y; rewrite ?eqxx.
by move=> x _; case: ifP => _ //; apply: ler_wpmul2r => //; rewrite invr_ge0 ltW.
Qed.

Lemma reveals_falls t u : 0 <= t -> t <= u -> reveals u <= reveals t.
Proof.
move=> t_ge0 tu; rewrite /reveals; apply: ler_wpmul2l; first exact: ltW.
rewrite lef_pinv ?posrE ?spread_gt0 ?(le_trans t_ge0) // ler_add2r.
by apply: ler_wpmul2l; rewrite ?subr_ge0.
Qed.

(** Definition 5, and what (7), (8) and (9) say of it: each outcome reveals [reveals (p y)],
    the rarest secret's most, and the parameter of (9) reaches the level below the largest. *)
Theorem grosse_def_5 :
  [/\ mechanism response, forall y, leaks p (response y) (reveals (p y)),
      forall c, keeps p c response <-> reveals (p rarest) <= c
    & forall c, 1 <= c -> c * p rarest < 1 ->
        r = c * (1 - p rarest) / (1 - c * p rarest) -> reveals (p rarest) = c].
Proof.
split=> [|y|c|c c_ge1 c_small rE].
- split=> [y x|x].
    by rewrite /response; case: ifP => _; rewrite divr_ge0 ?ler01 // ltW.
  rewrite /response (bigD1 x) //= eqxx.
  rewrite (eq_bigr (fun=> 1 / (#|X|%:R - 1 + r))) => [|y /negPf -> //].
  rewrite others mulrA mulr1 -mulrDl [r + _]addrC; exact: divff (lt0r_neq0 den_gt0).
- exact: response_leaks.
- have m_gt0 y : 0 < mean p (response y).
    by rewrite response_mean divr_gt0 // spread_gt0 // ltW.
  split=> [R_c|enough y x].
    have [_ [x _ top]] := response_leaks rarest.
    by rewrite -(ler_pmul2r (m_gt0 rarest)) -top; apply: R_c.
  have [bound _] := response_leaks y; apply: le_trans (bound x (p_gt0 x)) _.
  apply: ler_wpmul2r; first exact: ltW.
  by apply: le_trans enough; apply: reveals_falls => //; apply: ltW.
have d_gt0 : 0 < 1 - c * p rarest by rewrite subr_gt0.
have q_gt0 : 0 < 1 - p rarest.
  rewrite subr_gt0; apply: le_lt_trans c_small; rewrite ler_pemull //; exact: ltW.
have E : (r - 1) * p rarest + 1 = (1 - p rarest) / (1 - c * p rarest).
  by rewrite rE; field; rewrite lt0r_neq0.
by rewrite /reveals E rE; field; rewrite !lt0r_neq0.
Qed.

End Response.

Section Majorization.

Variable R : realFieldType.
Variable X : finType.

(** Definition 2 of the first paper: the [k] largest entries of [p] sum to no less than those
    of [q].  Put without an order: a set of entries of [q] has a sum that as many entries of
    [p] reach. *)
Definition majorizes (p q : X -> R) : Prop :=
  \sum_x p x = \sum_x q x /\
  forall U : {set X}, exists2 T : {set X}, #|T| = #|U| & \sum_(x in U) q x <= \sum_(x in T) p x.

(** Proposition 1 of the first paper: the leakage of randomized response is Schur-convex in
    the prior. *)
Theorem grosse_prop_1 (r : R) (p q : X -> R) (i j : X) : 1 <= r ->
  (forall x, 0 <= p x) -> (forall x, p i <= p x) -> (forall x, q j <= q x) ->
  majorizes p q -> reveals r (q j) <= reveals r (p i).
Proof.
move=> r_ge1 p_ge0 p_least q_least [same sums]; apply: reveals_falls => //.
have [T T_card] := sums (~: [set j]).
have split_ (f : X -> R) (A : {set X}) : \sum_(x in A) f x = \sum_x f x - \sum_(x in ~: A) f x.
  rewrite [\sum_x f x](bigID (mem A)) /= -addrA [X in _ + X](_ : _ = 0) ?addr0 //.
  by apply/eqP; rewrite subr_eq0; apply/eqP; apply: eq_bigl => x; rewrite inE.
rewrite split_ setCK big_set1 (split_ p T) -same ler_add2l ler_opp2.
have : #|~: T| = 1%N.
  by rewrite cardsCs setCK T_card cardsCs setCK cards1 subKn //; apply/card_gt0P; exists j.
by move/eqP/cards1P => [x ->]; rewrite big_set1; apply: le_trans.
Qed.

End Majorization.
