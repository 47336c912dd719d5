(** Mechanisms of most utility, for every number of secrets and outcomes.

    A mechanism mixes lift vectors [lift y x = P(y | x) / P(y)], whose mean under the prior
    is one, with weights [w y = P(y)] such that each secret has the mean one.  Its worth
    is the mean of a value of each lift vector.  The last section returns to columns. *)
From pmlbook Require Import base leakage designs programme.

Section Cardinality.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Variable lift : Y -> X -> R.
Variable value : Y -> R.
Hypothesis lift_mean : forall y, \sum_x p x * lift y x = 1.

(** Weights of lift vectors that make a mechanism: all are mixed to one. *)
Definition mixing (w : Y -> R) : Prop :=
  (forall y, 0 <= w y) /\ (forall x, \sum_y w y * lift y x = 1).

Definition support (w : Y -> R) : {set Y} := [set y | w y != 0].

Definition worth (w : Y -> R) : R := \sum_y w y * value y.

(** More outcomes than secrets depend linearly, so one can be dropped at no loss. *)
Lemma fewer (w : Y -> R) : mixing w -> (#|X| < #|support w|)%N ->
  exists w', [/\ mixing w', worth w <= worth w' & support w' \proper support w].
Proof.
move=> [w_ge0 w_one] more.
have dependent : ~~ row_free (table lift (support w)).
  by rewrite /row_free neq_ltn (leq_ltn_trans (rank_leq_col _) more).
have w_feas : feasible lift (support w) w.
  by split=> // y; rewrite inE negbK => /eqP.
have normed y : y \in [set: Y] -> \sum_x p x * lift y x = 1 by [].
have [y [w' [yS [w'_ge0 w'_out w'_one] less]]] := shrink value normed (subsetT _) dependent w_feas.
exists w'; split=> //; apply: sub_proper_trans (properD1 yS).
by apply/subsetP => z; apply: contraTT => /w'_out w'z; rewrite inE w'z eqxx.
Qed.

Lemma fewest (w : Y -> R) : mixing w -> exists w',
  [/\ mixing w', worth w <= worth w', support w' \subset support w & (#|support w'| <= #|X|)%N].
Proof.
have [n] := ubnP #|support w|; elim: n w => // n IH w; rewrite ltnS => small w_mix.
case: (leqP #|support w| #|X|) => [|more]; first by exists w.
have [w1 [w1_mix w1_more w1_less]] := fewer w_mix more.
have [|w2 [w2_mix w2_more w2_in w2_few]] := IH w1 _ w1_mix.
  exact: leq_trans (proper_card w1_less) small.
exists w2; split=> //; first exact: le_trans w2_more.
exact: subset_trans w2_in (proper_sub w1_less).
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

(** In the first privacy region the vertices with the weights [p] are a mechanism of the
    level, and no other has more of a convex utility [f]. *)
Lemma vertices_are_best (f : (X -> R) -> R) :
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

Section Columns.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Hypothesis p_sum : \sum_x p x = 1.
Variable c : R.
Variable mu : (X -> R) -> R.
Hypothesis mu_sub : sublinear mu.

(** A mechanism of the level [ln c]. *)
Variable P : Y -> X -> R.
Hypothesis P_mech : mechanism P.
Hypothesis P_keeps : keeps p c P.

Let w y := mean p (P y).
Let lift y x := if w y == 0 then 1 else P y x / w y.

Let p_ge0 x : 0 <= p x. Proof. exact: ltW. Qed.
Let P_ge0 : forall y x, 0 <= P y x. Proof. by case: P_mech. Qed.
Let P_one : forall x, \sum_y P y x = 1. Proof. by case: P_mech. Qed.
Let w_ge0 y : 0 <= w y. Proof. exact: mean_ge0. Qed.

Let PE y x : P y x = w y * lift y x.
Proof.
rewrite /lift; case: eqP => [w0|/eqP w0]; last by rewrite mulrC divfK.
by apply/eqP; rewrite w0 mul0r eq_le P_ge0 andbT; have := P_keeps y x; rewrite -/(w y) w0 mulr0.
Qed.

Let lift_ge0 y x : 0 <= lift y x.
Proof. by rewrite /lift; case: eqP => _; rewrite ?ler01 // divr_ge0. Qed.

Let lift_mean y : \sum_x p x * lift y x = 1.
Proof.
rewrite /lift; case: eqP => [_|/eqP w0].
  by under eq_bigr => x _ do rewrite mulr1; exact: p_sum.
by under eq_bigr => x _ do rewrite mulrA; rewrite -mulr_suml divff.
Qed.

Let w_mix : mixing lift w.
Proof. by split=> // x; rewrite -[RHS](P_one x); apply: eq_bigr => y _; rewrite PE. Qed.

Let some_secret : exists x : X, true.
Proof.
case: (pickP X) => [x _|none]; first by exists x.
by move: p_sum => /eqP; rewrite big_pred0 // eq_sym oner_eq0.
Qed.

Let c_ge1 : 1 <= c.
Proof.
have [x _] := some_secret; have [_ w_one] := w_mix.
rewrite -(P_one x); apply: (@le_trans _ _ (\sum_y c * w y)).
  by apply: ler_sum => y _; exact: P_keeps.
by rewrite -mulr_sumr (weights_sum p_sum w_one lift_mean) mulr1.
Qed.

Let lift_le y x : lift y x <= c.
Proof.
rewrite /lift; case: eqP => [_|/eqP w0]; first exact: c_ge1.
by rewrite ler_pdivr_mulr ?lt_neqAle ?(eq_sym 0) ?w0 ?w_ge0 //; exact: P_keeps.
Qed.

Let mu_scaled (v : Y -> R) y : 0 <= v y -> mu (fun x => v y * lift y x) = v y * mu (lift y).
Proof. by move=> v0; rewrite (scaled mu_sub). Qed.

Let utilityE : utility mu P = worth (fun y => mu (lift y)) w.
Proof. by apply: eq_bigr => y _; rewrite (respects mu_sub (PE y)) mu_scaled. Qed.

(** Theorem 1 of the first paper: no more outcomes than secrets are needed.  Each column that
    is kept is a multiple of the one it was. *)
Theorem grosse_thm_1 : exists Q : Y -> X -> R,
  [/\ mechanism Q, keeps p c Q, utility mu P <= utility mu Q,
      (#|[set y | [exists x, (Q y x != 0)%R]]| <= #|X|)%N
    & forall y, exists2 a, 0 <= a & Q y =1 fun x => a * P y x].
Proof.
have [v [[v_ge0 v_one] more v_in few]] := fewest (fun y => mu (lift y)) lift_mean w_mix.
exists (fun y x => v y * lift y x); split.
- by split=> // y x; exact: mulr_ge0.
- move=> y x; rewrite /mean; under eq_bigr => z _ do rewrite mulrCA.
  by rewrite -mulr_sumr lift_mean mulr1 mulrC; apply: ler_wpmul2r.
- rewrite utilityE; apply: le_trans more _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by apply: eq_bigr => y _; rewrite mu_scaled.
- apply: leq_trans few; apply: subset_leq_card; apply/subsetP => y; rewrite !inE => /existsP [x].
  by apply: contraNneq => ->; rewrite mul0r.
move=> y; exists (v y / w y); first exact: divr_ge0.
move=> x; rewrite PE; have [vy|vy] := eqVneq (v y) 0; first by rewrite vy !mul0r.
have /(subsetP v_in) : y \in support v by rewrite inE.
by rewrite inE => wy; rewrite mulrA divfK.
Qed.

(** The mechanism of Theorem 3, as printed. *)
Definition high (j x : X) : R := if x == j then 1 - c * (1 - p j) else c * p j.

(** Theorem 3 of the first paper: in the first privacy region [high] is a mechanism of the
    level, and no other has more of a sub-linear utility. *)
Theorem grosse_thm_3 : (forall i, c * (1 - p i) <= 1) ->
  [/\ mechanism high, keeps p c high & utility mu P <= utility mu high].
Proof.
move=> region.
have [c1|c_neq1] := eqVneq c 1.
  have highE j x : high j x = p j by rewrite /high c1; case: eqP => _; [ring | rewrite mul1r].
  have high_mean j : mean p (high j) = p j.
    rewrite /mean; under eq_bigr => x _ do rewrite highE.
    by rewrite -mulr_suml p_sum mul1r.
  split.
  - split=> [j x|x]; first by rewrite highE.
    by under eq_bigr => j _ do rewrite highE.
  - by move=> j x; rewrite high_mean highE c1 mul1r.
  have flat y x : P y x = w y.
    have gap z : 0 <= p z * (w y - P y z).
      by rewrite mulr_ge0 // subr_ge0; have := P_keeps y z; rewrite c1 mul1r.
    have : \sum_z p z * (w y - P y z) == 0.
      under eq_bigr => z _ do rewrite mulrBr.
      by rewrite sumrB -mulr_suml p_sum mul1r subrr.
    rewrite psumr_eq0 // => /allP /(_ x); rewrite mem_index_enum => /(_ isT) /=.
    by rewrite mulf_eq0 gt_eqF //= subr_eq0 => /eqP.
  have one (Z : finType) (Q : Z -> X -> R) (a : Z -> R) : (forall z, 0 <= a z) ->
      (forall z x, Q z x = a z) -> \sum_z a z = 1 -> utility mu Q = mu (fun=> 1).
    move=> a0 Qa a1; rewrite /utility (eq_bigr (fun z => a z * mu (fun=> 1))) => [|z _].
      by rewrite -mulr_suml a1 mul1r.
    rewrite -(scaled mu_sub) //; last by move=> x; exact: ler01.
    by apply: (respects mu_sub) => x; rewrite Qa mulr1.
  rewrite (one _ P w) // ?(one _ high p) //; have [x _] := some_secret.
  by rewrite -(P_one x); apply: eq_bigr => y _; rewrite flat.
have c_gt1 : 1 < c by rewrite lt_neqAle eq_sym c_neq1 c_ge1.
have highE j x : high j x = p j * vertex p c j x.
  rewrite /high /vertex; case: eqP => _; last by rewrite mulrC.
  by rewrite [RHS]mulrC divfK ?lt0r_neq0.
have [_ w_one] := w_mix.
have convex (q a : X -> R) : (forall j, 0 <= a j) -> \sum_j a j = 1 ->
    (forall x, \sum_j a j * vertex p c j x = q x) -> mu q <= \sum_j a j * mu (vertex p c j).
  move=> a_ge0 _ qE; rewrite (respects mu_sub (w := fun x => \sum_j a j * vertex p c j x)) => [|x].
    apply: (mixed mu_sub) => // j x; exact: vertex_ge0.
  by rewrite qE.
have [v_in v_mean v_one best] :=
  vertices_are_best p_gt0 p_sum w_ge0 w_one lift_mean c_gt1 region lift_le convex.
have v_ge0 j x : 0 <= vertex p c j x by have /andP [] := v_in j x.
split.
- split=> [j x|x]; first by rewrite highE mulr_ge0.
  by under eq_bigr => j _ do rewrite highE; exact: v_one.
- move=> j x; rewrite /mean; under eq_bigr => z _ do rewrite highE mulrCA.
  rewrite -mulr_sumr v_mean mulr1 highE mulrC; apply: ler_wpmul2r => //.
  by have /andP [] := v_in j x.
rewrite utilityE; apply: le_trans best _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
apply: eq_bigr => j _; rewrite -(scaled mu_sub) //.
by apply: (respects mu_sub) => x; rewrite highE.
Qed.

End Columns.
