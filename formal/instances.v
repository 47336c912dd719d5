(** Small examples over the rational numbers.  A theorem whose hypotheses nothing satisfies
    would say nothing, so theorems with many hypotheses are applied to numbers here. *)
From pmlbook Require Import base leakage designs worst_case certificates hamming distortions ordered.
From pmlbook Require Import colours folding.
From pmlbook Require mechanisms vertices uniform structure.

(** A utility that is not linear: how far the entries of a column lie apart. *)
Definition spread (X : finType) (v : X -> rat) : rat := \sum_x \sum_z `|v x - v z|.

Lemma spread_sublinear (X : finType) : sublinear (@spread X).
Proof.
split=> [v w same|a v a_ge0 _|v w _ _].
- by apply: eq_bigr => x _; apply: eq_bigr => z _; rewrite !same.
- rewrite /spread mulr_sumr; apply: eq_bigr => x _; rewrite mulr_sumr.
  by apply: eq_bigr => z _; rewrite -mulrBr normrM ger0_norm.
rewrite /spread -big_split; apply: ler_sum => x _; rewrite -big_split.
by apply: ler_sum => z _; rewrite opprD addrACA ler_norm_add.
Qed.

Lemma spread_symmetric n (s : {perm 'I_n}) (v : 'I_n -> rat) : spread (fun x => v (s x)) = spread v.
Proof.
rewrite /spread [RHS](reindex_inj (@perm_inj _ s)); apply: eq_bigr => x _.
by rewrite [RHS](reindex_inj (@perm_inj _ s)).
Qed.

(** Two secrets that are equally likely, and a mechanism that says the truth three times in
    four.  Its level is [ln (3 / 2)]. *)
Definition half (x : bool) : rat := 1 / 2%:R.

Lemma half_gt0 x : 0 < half x. Proof. by []. Qed.
Lemma half_sum : \sum_x half x = 1. Proof. by rewrite big_bool. Qed.

Definition answer (y x : bool) : rat := if y == x then 3%:R / 4%:R else 1 / 4%:R.

Lemma answer_mechanism : mechanism answer.
Proof. by split=> [[] []|[]] //; rewrite big_bool. Qed.

Lemma answer_keeps : keeps half (3%:R / 2%:R) answer.
Proof. by case; case; rewrite /mean big_bool. Qed.

(** The same with a third outcome, which says nothing. *)
Definition third (y : option bool) (x : bool) : rat :=
  if y is Some z then answer z x / 2%:R else 1 / 2%:R.

Lemma sum_option (f : option bool -> rat) : \sum_y f y = f None + (f (Some true) + f (Some false)).
Proof.
rewrite (bigD1 None) //=; congr (_ + _).
rewrite (reindex_onto Some (fun y => if y is Some z then z else true)) /=; last by case.
by rewrite (eq_bigl xpredT) ?big_bool // => z; rewrite eqxx.
Qed.

Lemma third_mechanism : mechanism third.
Proof. by split=> [[[]|] []|[]] //; rewrite sum_option. Qed.

Lemma third_keeps : keeps half (3%:R / 2%:R) third.
Proof. by case=> [[]|] []; rewrite /mean big_bool. Qed.

Example of_grosse_def_1 : exists g : bool -> bool -> rat,
  [/\ forall x a, 0 <= g x a, forall a, \sum_x half x * g x a = 1
    & \sum_x half x * answer true x * g x true = 3%:R / 2%:R * mean half (answer true)].
Proof.
have [y_ge0 _] := answer_mechanism.
have half_ge0 x : 0 <= half x by [].
have [] // := @grosse_def_1 _ _ half half_ge0 (3%:R / 2%:R) (answer true) true half_gt0 isT.
- exact: answer_keeps.
by rewrite /mean big_bool.
Qed.

Example of_grosse_lem_2 : 1 <= 2%:R * (1 - \sum_(x in [set false]) half x).
Proof.
pose q (x : bool) : rat := (x == false)%:R.
have q_ge0 x : 0 <= q x by rewrite ler0n.
have q_within : within half 2%:R q by case; rewrite /mean big_bool.
have occurs : 0 < mean half q by rewrite /mean big_bool.
have excluded x : x \in [set true] -> q x = 0 by rewrite inE => /eqP ->.
have half_ge0 x : 0 <= half x by [].
have := grosse_lem_2 (c := 2%:R) (T := [set false]) half_ge0 half_sum q_ge0 isT q_within occurs excluded.
apply=> [U|].
  by rewrite cards1 => /eqP/cards1P [x ->]; rewrite !big_set1.
by rewrite !cards1.
Qed.

Example of_grosse_thm_1 : exists Q : option bool -> bool -> rat,
  [/\ mechanism Q, utility (@spread _) third <= utility (@spread _) Q
    & (#|[set y | [exists x, (Q y x != 0)%R]]| <= 2)%N].
Proof.
have [Q [Q_mech _ more few _]] := mechanisms.grosse_thm_1 half_gt0 half_sum
  (spread_sublinear _) third_mechanism third_keeps.
by exists Q; rewrite card_bool in few; split.
Qed.

Example of_grosse_thm_2 :
  utility (@spread _) answer <= utility (@spread _) (binary half (3%:R / 2%:R)).
Proof.
have [_ _ best] := @grosse_thm_2 _ half half_gt0 erefl (3%:R / 2%:R) isT isT _ (spread_sublinear _).
exact: best answer_mechanism answer_keeps.
Qed.

(** Theorem 3 inside its region, and at the level zero. *)
Example of_grosse_thm_3 :
  utility (@spread _) third <= utility (@spread _) (mechanisms.high half (3%:R / 2%:R)).
Proof.
by have [] := mechanisms.grosse_thm_3 half_gt0 half_sum (spread_sublinear _)
  third_mechanism third_keeps (fun _ => isT).
Qed.

Example of_grosse_thm_3_at_zero : keeps half 1 (mechanisms.high half 1).
Proof.
have silent : mechanism (fun (_ : unit) (_ : bool) => 1 : rat).
  by split=> // x; rewrite sumr_const card_unit.
have silent_keeps : keeps half 1 (fun (_ : unit) (_ : bool) => 1).
  by move=> _ x; rewrite /mean big_bool.
by have [] := mechanisms.grosse_thm_3 half_gt0 half_sum (spread_sublinear _)
  silent silent_keeps (fun _ => isT).
Qed.

(** Three secrets in the second region. *)
Example of_grosse_thm_4 : mechanism (@uniform.cyclic _ 2 (2%:R : rat) 2).
Proof.
by have [] := @uniform.grosse_thm_4 _ 2 (2%:R : rat) 2 isT isT _ (spread_sublinear _)
  (@spread_symmetric _).
Qed.

Example of_grosse_thm_5 : exists Q : vertices.pattern bool_finType -> bool -> rat,
  [/\ mechanism Q, keeps half (3%:R / 2%:R) Q
    & utility (@spread _) third <= utility (@spread _) Q].
Proof.
have [_ _ [Q [Q_mech Q_keeps best _]]] := vertices.grosse_thm_5 half_gt0
  (c := 3%:R / 2%:R) isT (spread_sublinear _) half_sum isT.
by exists Q; split=> //; apply: best third_mechanism third_keeps.
Qed.

(** Each secret prefers its own outcome, and publishes it only. *)
Definition rank (x y : bool) : nat := (if x == y then 2 else 1)%N.

Definition truth (y x : bool) : rat := (y == x)%:R.

Lemma truth_mechanism : mechanism truth.
Proof. by split=> [[] []|[]] //; rewrite big_bool. Qed.

Example of_song_thm_1 : keeps half 2%:R (safe rat_realFieldType rank 2).
Proof.
have rank_in x y : (0 < rank x y <= #|bool_finType|)%N by rewrite card_bool /rank; case: eqP.
have rank_inj x : injective (rank x) by case: x => [] [] [].
have h_in : (0 < 2 <= #|bool_finType|)%N by rewrite card_bool.
have [_ _ _ _ best] := @song_thm_1 _ _ _ half half_gt0 half_sum rank rank_in rank_inj 2 h_in.
apply: (best truth); first exact: truth_mechanism.
- by case; case.
- by move=> y _; rewrite /mean big_bool; case: y.
by case; case; rewrite /mean big_bool.
Qed.

Example of_song_prop_1 : keeps half (3%:R / 2%:R) answer.
Proof.
have least x : half true <= half x by [].
have [_ low] := song_prop_1 half_gt0 half_sum least (c := 3%:R / 2%:R) isT answer_mechanism.
by apply: (low isT 3%:R) => //; case; case; case.
Qed.

(** Three symbols in a known order. *)
Definition order (i : 'I_3) : rat := if i == ord0 then 1 / 2%:R else 1 / 4%:R.
Definition source (P : 'I_3 -> rat) : Prop := P =1 order.

Lemma source_ge0 P : source P -> forall i, 0 <= P i.
Proof. by move=> same i; rewrite same /order; case: ifP. Qed.

Lemma source_sum P : source P -> \sum_i P i = 1.
Proof. by move=> same; rewrite (eq_bigr _ (fun i _ => same i)) !big_ord_recl big_ord0. Qed.

Lemma source_ordered P : source P -> forall i j : 'I_3, (i <= j)%N -> P j <= P i.
Proof.
move=> same i j ij; rewrite !same /order; case: eqP => [j0|_]; case: eqP => // i0.
by case: i0; apply/val_inj/eqP; rewrite -leqn0; move: ij; rewrite j0.
Qed.

(** The symmetric mechanism is optimal for [D = 1/4], and distortions 1/4, 1/2, 1/2 are
    possible for [D = 3/8]. *)
Example of_kalantari_thm_2 : least source (1 / 4%:R) (2%:R * ((1 - 1 / 4%:R) / (1 / 4%:R))).
Proof.
have [_ _ symmetric _] := kalantari_thm_2 source_ge0 source_sum source_ordered (D := 1 / 4%:R) isT.
exact: (symmetric order (fun=> erefl)).
Qed.

Definition wrong (i : 'I_3) : rat := if i == ord0 then 1 / 4%:R else 1 / 2%:R.

Lemma wrong_rises (i j : 'I_3) : (i <= j)%N -> wrong i <= wrong j.
Proof.
move=> ij; rewrite /wrong; case: eqP => [i0|i0]; case: eqP => // j0; case: i0.
by apply/val_inj/eqP; rewrite -leqn0; move: ij; rewrite j0.
Qed.

Lemma wrong_programme : programme source (3%:R / 8%:R) 4%:R wrong.
Proof.
split; [|exact: wrong_rises|by rewrite !big_ord_recl big_ord0| |].
- by move=> i; rewrite /wrong; case: ifP.
- by move=> P same; rewrite (eq_bigr _ (fun i _ => congr1 (fun t => t * _) (same i)))
    !big_ord_recl big_ord0.
by rewrite big_mkcond !big_ord_recl big_ord0.
Qed.

Example of_kalantari_thm_2_between : exists2 Q, valid source (3%:R / 8%:R) Q & private 4%:R Q.
Proof.
have [_ programmes _ _] := kalantari_thm_2 source_ge0 source_sum source_ordered (D := 3%:R / 8%:R) isT.
by apply/programmes => //; exists wrong; exact: wrong_programme.
Qed.

Example of_kalantari_eq_48 : private 4%:R (errors wrong).
Proof.
have wrong_in i : 0 < wrong i <= 1 by rewrite /wrong; case: ifP.
have fits : \sum_i wrong i <= 2%:R by rewrite !big_ord_recl big_ord0.
have [_ _ levels] := kalantari_eq_48 wrong_in wrong_rises fits.
by have [_ _ _ _ row] := wrong_programme; apply/levels.
Qed.

(** The second symbol is the likeliest: this source set is not in order, and folds onto one
    that is. *)
Definition middle (i : 'I_3) : rat := if i == 1 then 1 / 2%:R else 1 / 4%:R.
Definition turned (P : 'I_3 -> rat) : Prop := P =1 middle.

Lemma turned_folded (T : {perm 'I_3}) P : turned P -> falls (fun i => P (T i)) ->
  (fun i => P (T i)) =1 order.
Proof.
move=> same P_falls i; have T0 : T 0 = 1.
  apply/eqP; apply: contraT => /negPf neq.
  have : P (T ((T^-1)%g 1)) <= P (T 0) := P_falls 0 _ isT.
  by rewrite permKV !same /middle neq.
by rewrite same /middle /order -T0 (inj_eq perm_inj).
Qed.

Lemma turned_ge0 P : turned P -> forall i, 0 <= P i.
Proof. by move=> P_in i; rewrite P_in /middle; case: ifP. Qed.

Lemma turned_polytope P :
  turned P <-> hull (fun F => exists j : 'I_1, F =1 middle) P.
Proof.
split=> [P_in|[k [t [F [_ t_one F_in PE]]]] i].
  by exists 1%N, (fun=> 1), (fun=> P); split=> [_||_|x]; rewrite ?big_ord1 ?mul1r //; exists 0.
rewrite PE (eq_bigr (fun j => t j * middle i)).
  by rewrite -mulr_suml t_one mul1r.
by move=> j _; have [_ ->] := F_in j.
Qed.

Lemma turned_union_programme : programme (union turned) (3%:R / 8%:R) 4%:R wrong.
Proof.
have [w1 w2 w3 w4 w5] := wrong_programme; split=> // F [T [P P_in [F_falls FE]]]; apply: w4 => i.
rewrite FE; apply: turned_folded => // j k jk; have := F_falls j k jk.
by rewrite !FE.
Qed.

Example of_folding_exact : exists2 Q, valid turned (3%:R / 8%:R) Q & private 4%:R Q.
Proof.
apply: (folding_exact turned_ge0 _ _ turned_polytope).2.
apply: (from_allowed (d := wrong)) => //.
by have [] := (programme_allowed (union turned) _ wrong (c := 4%:R) isT).1 turned_union_programme.
Qed.

Example of_kalantari_cor_1 : exists2 Q, valid (inside turned) (3%:R / 8%:R) Q & private 4%:R Q.
Proof.
have [|agree _] := kalantari_cor_1 turned_ge0 (3%:R / 8%:R) 4%:R turned_polytope.
  move=> F; split=> [F_in|[T [P P_in [F_falls FE]]] U [G G_in G_falls]]; last first.
    exists G => //; split=> // i; rewrite (turned_folded G_in G_falls) FE.
    by apply: turned_folded => // j k jk; have := F_falls j k jk; rewrite !FE.
  have [T T_folds _] := every_distribution_folds (S := turned) (P := middle) (fun=> erefl).
  by exists T; apply: F_in.
exact: agree.2 of_folding_exact.
Qed.

(** The uniform distribution alone is a source set of the first class. *)
Example of_kalantari_thm_1 :
  least (fun P : bool -> rat => P =1 half) (1 / 4%:R) ((2%:R - 1) * ((1 - 1 / 4%:R) / (1 / 4%:R))).
Proof.
have two : (1 < #|bool_finType|)%N by rewrite card_bool.
have sums (P : bool -> rat) : P =1 half -> \sum_x P x = 1.
  by move=> same; rewrite (eq_bigr _ (fun x _ => same x)) half_sum.
have flat : hull (fun P : bool -> rat => P =1 half) (fun=> (#|bool_finType|%:R)^-1).
  exists 1%N, (fun=> 1), (fun=> half); rewrite card_bool.
  by split=> [|||x]; rewrite ?big_ord1.
have [low _] := kalantari_thm_1 two sums flat (D := 1 / 4%:R) isT.
by rewrite card_bool in low; apply: low.
Qed.

(** A mechanism with the colours of Claims 4 and 5: [true] is black, [false] is not. *)
Definition coloured (y x : bool) : rat :=
  match y, x with
  | true, true => 1 / 2%:R  | true, false => 1 / 4%:R
  | false, true => 1 / 2%:R | false, false => 3%:R / 4%:R
  end.

Lemma coloured_mechanism : mechanism coloured.
Proof. by split=> [[] []|[]] //; rewrite big_bool. Qed.

Lemma coloured_private : private 2%:R coloured.
Proof. by case; case; case. Qed.

Lemma true_black : black 2%:R coloured true true.
Proof. by split=> //; exists false. Qed.

Lemma false_not_black : ~ black 2%:R coloured false false.
Proof. by case=> _ [[]]. Qed.

Lemma coloured_published (y : bool) : published coloured y.
Proof. by exists true; case: y. Qed.

Lemma coloured_red : red_rows 2%:R coloured.
Proof.
move=> [] y _ not_black _ yx; first by case: not_black; exact: true_black.
by case: y yx => // _; split=> //; exists true.
Qed.

Example of_kalantari_claim_4 :
  ~ (~ black 2%:R coloured true true /\ ~ black 2%:R coloured false false).
Proof.
have one : one_colour 2%:R coloured by move=> [] [] [] // _ _ _ _; split.
apply: (kalantari_claim_4 (c := 2%:R) _ coloured_mechanism coloured_private one coloured_red) => //;
  exact: coloured_published.
Qed.

Example of_kalantari_claim_5 : 1 - coloured false false < 1 - coloured true true.
Proof.
apply: (kalantari_claim_5 (c := 2%:R) _ coloured_mechanism coloured_private coloured_red) => //.
- exact: coloured_published.
- exact: false_not_black.
- exact: true_black.
Qed.

(** The vertex that sends each secret to an outcome of its own uses all outcomes, and no
    mechanism of the level has more utility. *)
Example of_grosse_lem_7 :
  utility (@spread _) third <=
  utility (@spread _) (structure.vertex half (3%:R / 2%:R) (fun x : bool => x)).
Proof.
have c_gt1 : 1 < 3%:R / 2%:R :> rat by [].
have region x : 3%:R / 2%:R * (1 - half x) <= 1 by [].
have maps := structure.vertices_are_maps bool_finType half_gt0 half_sum c_gt1 region.
apply: (structure.grosse_lem_7 half_gt0 half_sum c_gt1 region erefl (spread_sublinear _) _ _
  third_mechanism third_keeps).
  by apply/(maps.1 _); exists id.
rewrite structure.used_vertex; [|exact: half_gt0|exact: half_sum].
by apply/setP => y; rewrite inE; apply/imsetP; exists y.
Qed.

(** Only the truth is allowed: it needs the level [ln 2], and a certificate rules [ln 3/2] out. *)
Example of_dual_certificate_bound :
  ~ exists P, [/\ mechanism P, keeps half (3%:R / 2%:R) P & respects (fun x y : bool => x == y) P].
Proof.
move=> /(dual_certificate_bound half_gt0 half_sum (fun x y : bool => x == y) (c := 3%:R / 2%:R) isT).
move=> /(_ (fun x : bool => x%:R) (fun x => ler0n _ x)); rewrite big_bool => /(_ erefl).
move=> [y [a [[u [u_in u_out u_mean u_more]] a_ge]]].
move: u_mean u_more a_ge; rewrite /mean !big_bool /= mul1r mul0r addr0 /half => <-.
case: y u_out => out; [rewrite (out false) // | rewrite (out true) //];
  rewrite mulr0 ?addr0 ?add0r => more least.
  have /andP [_ small] := u_in true; have := le_trans least (ler_wpmul2l _ small).
  by rewrite mulr1 => /(_ isT).
by have := le_trans least more.
Qed.
