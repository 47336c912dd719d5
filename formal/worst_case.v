(** The second paper: what an outcome costs that rules secrets out, and mechanisms that
    avoid the outcomes of low rank. *)
From pmlbook Require Import base leakage designs.

Section Supports.

Variable R : realFieldType.
Variable X : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.

(** The leakage of the column [q] under the prior [r] is [ln c]: no secret that the prior
    allows has a larger lift, and one has it. *)
Definition leaks (r q : X -> R) (c : R) : Prop :=
  (forall x, 0 < r x -> q x <= c * mean r q) /\ (exists2 x, 0 < r x & q x = c * mean r q).

Variable q : X -> R.
Hypothesis q_ge0 : forall x, 0 <= q x.
Hypothesis occurs : 0 < mean p q.

(** The secrets that the outcome allows, their mass, and the prior rescaled to them. *)
Definition allowed : {set X} := [set x | 0 < q x].
Definition mass : R := \sum_(x in allowed) p x.
Definition rescaled (x : X) : R := if x \in allowed then p x / mass else 0.

Lemma q_out x : x \notin allowed -> q x = 0.
Proof. by rewrite inE lt_neqAle q_ge0 andbT negbK eq_sym => /eqP. Qed.

Lemma some_allowed : exists x, x \in allowed.
Proof.
apply/set0Pn; apply: contraTneq occurs => none.
by rewrite /mean big1 ?ltxx // => x _; rewrite q_out ?mulr0 // none inE.
Qed.

Lemma mass_gt0 : 0 < mass.
Proof.
have [x xS] := some_allowed; rewrite /mass (bigD1 x) //=; apply: ltr_paddr => //.
by apply: sumr_ge0 => y _; apply: ltW.
Qed.

Lemma rescaled_gt0 x : (0 < rescaled x) = (x \in allowed).
Proof. by rewrite /rescaled; case: ifP => _; rewrite ?ltxx // divr_gt0 // mass_gt0. Qed.

Lemma rescaled_sum : \sum_x rescaled x = 1.
Proof. by rewrite /rescaled -big_mkcond /= -mulr_suml divff // lt0r_neq0 // mass_gt0. Qed.

Lemma rescaled_mean : mean rescaled q = mean p q / mass.
Proof.
rewrite /mean mulr_suml; apply: eq_bigr => x _; rewrite /rescaled.
by case: ifP => [_|/negbT /q_out ->]; rewrite ?mulr0 ?mul0r // mulrAC.
Qed.

(** Lemma 2 of the second paper: the leakage is [ln (1 / mass)] and, on top of it, the leakage
    under the rescaled prior.  Without logarithms: one lift is [mass] times the other. *)
Theorem song_lem_2 (c : R) : leaks p q c <-> leaks rescaled q (c * mass).
Proof.
have E : c * mass * mean rescaled q = c * mean p q.
  by rewrite rescaled_mean -mulrA [mass * _]mulrC divfK // lt0r_neq0 // mass_gt0.
split=> [[bound [x _ qx]]|[bound [x x_pos qx]]]; rewrite /leaks ?E; split.
- by move=> y _; apply: bound.
- have [y yS] := some_allowed; exists x => //; rewrite rescaled_gt0 inE qx.
  by apply: lt_le_trans (bound y (p_gt0 y)); move: yS; rewrite inE.
- move=> y _; have [yS|/q_out ->] := boolP (y \in allowed).
    by rewrite -E; apply: bound; rewrite rescaled_gt0.
  by rewrite -E -qx.
- by exists x => //; rewrite qx E.
Qed.

(** Lemma 3 of the second paper: leakage under the rescaled prior is not negative, and zero
    exactly if the column is constant on the allowed secrets.  The constant is the mean under
    the rescaled prior, not [P(y)] as printed. *)
Theorem song_lem_3 (c : R) : leaks rescaled q c ->
  1 <= c /\ (c = 1 <-> forall x, x \in allowed -> q x = mean rescaled q).
Proof.
move=> [bound [x x_pos qx]].
have m_gt0 : 0 < mean rescaled q by rewrite rescaled_mean divr_gt0 // mass_gt0.
have r_ge0 z : 0 <= rescaled z.
  by rewrite /rescaled; case: ifP => // _; rewrite divr_ge0 // ltW // mass_gt0.
have gap z : 0 <= rescaled z * (c * mean rescaled q - q z).
  rewrite le_eqVlt; have [zS|zS] := boolP (z \in allowed); last first.
    by rewrite /rescaled (negPf zS) mul0r eqxx.
  by rewrite -le_eqVlt mulr_ge0 // subr_ge0; apply: bound; rewrite rescaled_gt0.
have total : \sum_z rescaled z * (c * mean rescaled q - q z) = (c - 1) * mean rescaled q.
  under eq_bigr => z _ do rewrite mulrBr.
  by rewrite sumrB -mulr_suml rescaled_sum mulrBl !mul1r.
split; first by rewrite -subr_ge0 -(pmulr_lge0 _ m_gt0) -total; apply: sumr_ge0.
split=> [c1 z zS|same].
  move/eqP: total; rewrite c1 subrr mul0r psumr_eq0 => [/allP /(_ z)|y _]; last first.
    by rewrite -c1.
  rewrite mem_index_enum mul1r => /(_ isT) /=; rewrite mulf_eq0 gt_eqF ?rescaled_gt0 //=.
  by rewrite subr_eq0 => /eqP ->.
have xS : x \in allowed by rewrite -rescaled_gt0.
by move: (same x xS); rewrite qx -[X in _ = X]mul1r => /mulIf; apply; rewrite lt0r_neq0.
Qed.

End Supports.

Section Guarantee.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.

(** Definition 1 of the second paper: a mechanism keeps the level [ln c] exactly if no outcome
    that occurs multiplies the probability of a secret by more than [c]. *)
Theorem song_def_1 (c : R) (P : Y -> X -> R) : mechanism P ->
  (keeps p c P <-> forall y, 0 < mean p (P y) ->
     forall x, p x * P y x / mean p (P y) <= c * p x).
Proof.
move=> [P_ge0 P_one]; have p_ge0 x : 0 <= p x by apply: ltW.
split=> [P_keeps y m_gt0 x|grown y x].
  by rewrite ler_pdivr_mulr // [c * _]mulrC -mulrA; apply: ler_wpmul2l => //; apply: P_keeps.
have := mean_ge0 p_ge0 (P_ge0 y); rewrite le_eqVlt => /orP [/eqP /esym m0|m_gt0].
  move/eqP: (m0); rewrite psumr_eq0 => [/allP /(_ x)|z _]; last exact: mulr_ge0.
  by rewrite mem_index_enum mulf_eq0 gt_eqF //= => /(_ isT) /eqP ->; rewrite m0 mulr0.
have := grown y m_gt0 x; rewrite ler_pdivr_mulr // [c * _]mulrC -mulrA.
by rewrite ler_pmul2l.
Qed.

(** The programme (10): its constraints say that no lift exceeds [c]; a larger [c] admits more,
    so that the least can be found by halving; and an outcome whose allowed secrets have a mass
    below [1 / c] stays unused. *)
Theorem song_eq_10 (c : R) (allow : X -> Y -> bool) (P : Y -> X -> R) :
  0 < c -> mechanism P -> (forall y x, ~~ allow x y -> P y x = 0) ->
  [/\ keeps p c P <-> (forall y, 0 < mean p (P y) -> forall x, P y x / mean p (P y) <= c),
      forall d, c <= d -> keeps p c P -> keeps p d P
    & keeps p c P -> forall y, \sum_(x | allow x y) p x < c^-1 -> forall x, P y x = 0].
Proof.
move=> c_gt0 P_mech only; have [P_ge0 P_one] := P_mech.
have p_ge0 x : 0 <= p x by apply: ltW.
split.
- rewrite song_def_1 //; split=> lifts y m_gt0 x; have := lifts y m_gt0 x.
    by rewrite -mulrA [c * _]mulrC ler_pmul2l.
  by rewrite -mulrA [c * _]mulrC ler_pmul2l.
- move=> d cd P_keeps y x; apply: le_trans (P_keeps y x) _.
  by apply: ler_wpmul2r => //; apply: mean_ge0.
move=> P_keeps y rare x; apply/eqP; rewrite eq_le P_ge0 andbT.
suff m0 : mean p (P y) <= 0.
  by apply: le_trans (P_keeps y x) _; rewrite pmulr_rle0.
rewrite leNgt; apply/negP => m_gt0; move: rare; apply/negP; rewrite -leNgt.
rewrite -[c^-1]mul1r ler_pdivr_mulr // -(ler_pmul2r m_gt0) mul1r -mulrA mulr_suml.
rewrite {1}/mean (bigID (fun x => allow x y)) /= [X in _ + X]big1 ?addr0; last first.
  by move=> z /only ->; rewrite mulr0.
by apply: ler_sum => z _; apply: ler_wpmul2l => //; apply: P_keeps.
Qed.

End Guarantee.

Section Ranks.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Hypothesis p_sum : \sum_x p x = 1.

(** [rank x y] is the place of the outcome [y] in the order of utilities for the secret [x],
    from the lowest, [1], to the highest, [#|Y|]. *)
Variable rank : X -> Y -> nat.
Hypothesis rank_in : forall x y, (0 < rank x y <= #|Y|)%N.
Hypothesis rank_inj : forall x, injective (rank x).

(** A mechanism avoids ranks below [h]. *)
Definition avoids (h : nat) (P : Y -> X -> R) : Prop :=
  forall y x, (rank x y < h)%N -> P y x = 0.

(** Lemma 1 of the second paper: what is reached at a level is reached at every larger one. *)
Theorem song_lem_1 (h : nat) (c d : R) : c <= d ->
  (exists P, [/\ mechanism P, keeps p c P & avoids h P]) ->
  (exists P, [/\ mechanism P, keeps p d P & avoids h P]).
Proof.
move=> cd [P [[P_ge0 P_one] P_keeps P_avoids]]; exists P; split=> // y x.
apply: le_trans (P_keeps y x) _; apply: ler_wpmul2r => //.
by apply: mean_ge0 => // z; apply: ltW.
Qed.

Variable h : nat.
Hypothesis h_in : (0 < h <= #|Y|)%N.

(** The outcomes that some secret may publish, [(3)], and the utility-safe mechanism [(6)]. *)
Definition useful : {set Y} := [set y | [exists x, (h <= rank x y)%N]].

Definition safe (y : Y) (x : X) : R :=
  if (rank x y < h)%N then 0 else (#|Y| - h + 1)%:R^-1.

(** The mass of the secrets that may publish [y]. *)
Definition backing (y : Y) : R := \sum_(x | (h <= rank x y)%N) p x.

Let share_gt0 : 0 < (#|Y| - h + 1)%:R^-1 :> R. Proof. by rewrite invr_gt0 ltr0n addn1. Qed.

Lemma ranked x : #|[set y | (h <= rank x y)%N]| = (#|Y| - h + 1)%N.
Proof.
have h_le : (h <= #|Y|)%N by case/andP: h_in.
have rank_lt y : (rank x y < #|Y|.+1)%N by rewrite ltnS; case/andP: (rank_in x y).
pose place y : 'I_#|Y|.+1 := Ordinal (rank_lt y).
have place_inj : injective place by move=> y z /(congr1 val) /rank_inj.
have full : place @: [set: Y] = [set i : 'I_#|Y|.+1 | (0 < i)%N].
  apply/eqP; rewrite eqEcard; apply/andP; split.
    by apply/subsetP => _ /imsetP [y _ ->]; rewrite inE /=; case/andP: (rank_in x y).
  rewrite card_imset // cardsT.
  have -> : [set i : 'I_#|Y|.+1 | (0 < i)%N] = ~: [set ord0].
    by apply/setP => i; rewrite !inE lt0n -val_eqE.
  by rewrite cardsCs setCK card_ord cards1 subn1.
rewrite -(card_imset _ place_inj).
have -> : place @: [set y | (h <= rank x y)%N] = [set i : 'I_#|Y|.+1 | (h <= i)%N].
  apply/setP => i; rewrite inE; apply/imsetP/idP => [[y y_in ->]|hi].
    by move: y_in; rewrite inE.
  have : i \in place @: [set: Y].
    by rewrite full inE; apply: leq_trans hi; case/andP: h_in.
  by case/imsetP => y _ iy; exists y => //; rewrite inE; move: hi; rewrite iy.
rewrite -sum1dep_card; transitivity (\sum_(h <= i < #|Y|.+1) 1)%N.
  by rewrite big_geq_mkord.
by rewrite sum_nat_const_nat muln1 subSn // addn1.
Qed.

Lemma safe_mechanism : mechanism safe.
Proof.
split=> [y x|x]; first by rewrite /safe; case: ifP => _ //; apply: ltW.
rewrite /safe; under eq_bigr => y _ do rewrite ltnNge if_neg.
rewrite -big_mkcond /= sumr_const -[_ *+ _]mulr_natr -(ranked x) cardsE mulVf //.
by rewrite -cardsE (ranked x) pnatr_eq0 addn1.
Qed.

Lemma safe_mean y : mean p (safe y) = (#|Y| - h + 1)%:R^-1 * backing y.
Proof.
rewrite /mean /backing mulr_sumr [RHS]big_mkcond; apply: eq_bigr => x _.
by rewrite /safe ltnNge; case: (h <= rank x y)%N; rewrite ?mulr0 // mulrC.
Qed.

Lemma backing_ge0 y : 0 <= backing y.
Proof. by apply: sumr_ge0 => x _; apply: ltW. Qed.

(** Corollary 1 of the second paper: the utility-safe mechanism keeps the level [ln c] exactly
    if [c >= 1 / backing y] for each outcome; the least such level is the corollary's. *)
Theorem song_cor_1 (c : R) : keeps p c safe <-> forall y, y \in useful -> 1 <= c * backing y.
Proof.
split=> [safe_keeps y|enough y x].
  rewrite inE => /existsP [x hx]; have := safe_keeps y x.
  rewrite safe_mean /safe ltnNge hx /= mulrCA -[X in X <= _]mulr1.
  by rewrite ler_pmul2l.
rewrite safe_mean mulrCA /safe; case: ltnP => [_|hx]; last first.
  rewrite -[X in X <= _]mulr1 ler_pmul2l //; apply: enough.
  by rewrite inE; apply/existsP; exists x.
rewrite pmulr_rge0 //; have [y_in|y_out] := boolP (y \in useful).
  exact: le_trans ler01 (enough y y_in).
rewrite /backing big1 ?mulr0 // => z hz; move: y_out; rewrite inE => /existsP [].
by exists z.
Qed.

(** An outcome that occurs at the level [ln c] has secrets behind it, whose mass is [1 / c]. *)
Lemma backed (P : Y -> X -> R) (c : R) (y : Y) : (forall z x, 0 <= P z x) -> avoids h P ->
  0 < mean p (P y) -> within p c (P y) -> 1 <= c * backing y.
Proof.
move=> P_ge0 P_avoids occurs P_keeps; have p_ge0 x : 0 <= p x by apply: ltW.
have := excluded_mass p_ge0 p_sum (S := [set x | (rank x y < h)%N]) (P_ge0 y) P_keeps occurs.
have -> : backing y = 1 - \sum_(x in [set x | (rank x y < h)%N]) p x.
  rewrite -p_sum (bigID (mem [set x | (rank x y < h)%N])) /= addrC addKr.
  by apply: eq_bigl => x; rewrite inE leqNgt.
by apply => x; rewrite inE; apply: P_avoids.
Qed.

(** Theorem 1 of the second paper: among mechanisms that avoid the ranks below [h] the
    utility-safe mechanism leaks least.  Each of its columns keeps every level that the column
    of the same outcome keeps in one of them, if the outcome occurs there.  So it keeps every
    level that one of them keeps which publishes each useful outcome, as (3) asks. *)
Theorem song_thm_1 :
  [/\ mechanism safe, avoids h safe, forall y, (0 < mean p (safe y)) = (y \in useful),
      forall (P : Y -> X -> R) (c : R) (y : Y), mechanism P -> avoids h P ->
        0 < mean p (P y) -> within p c (P y) -> within p c (safe y)
    & forall (P : Y -> X -> R) (c : R), mechanism P -> avoids h P ->
        (forall y, y \in useful -> 0 < mean p (P y)) -> keeps p c P -> keeps p c safe].
Proof.
split; first exact: safe_mechanism.
- by move=> y x low; rewrite /safe low.
- move=> y; rewrite safe_mean pmulr_rgt0 // inE; apply/idP/existsP => [|[x hx]].
    case: (pickP (fun x => h <= rank x y)%N) => [x hx _|none]; first by exists x.
    by rewrite /backing big_pred0 ?ltxx.
  rewrite /backing (bigD1 x) //=; apply: ltr_paddr => //.
  by apply: sumr_ge0 => z _; apply: ltW.
- move=> P c y [P_ge0 _] P_avoids occurs P_keeps x; have enough := backed P_ge0 P_avoids occurs P_keeps.
  rewrite safe_mean mulrCA /safe; case: ltnP => [_|hx].
    by apply: mulr_ge0; [apply: ltW | apply: le_trans enough].
  by rewrite -[X in X <= _]mulr1; apply: ler_wpmul2l => //; apply: ltW.
move=> P c [P_ge0 _] P_avoids P_occurs P_keeps; apply/song_cor_1 => y /P_occurs occurs.
exact: backed P_ge0 P_avoids occurs (P_keeps y).
Qed.

(** Corollary 2 of the second paper: after the outcome [y] the secrets that may publish it have
    the same ratios as before. *)
Theorem song_cor_2 (y : Y) (x z : X) : (h <= rank x y)%N -> (h <= rank z y)%N ->
  let posterior t := p t * safe y t / mean p (safe y) in p x / p z = posterior x / posterior z.
Proof.
move=> hx hz posterior; rewrite /posterior /safe !ltnNge hx hz /=.
have back_gt0 : 0 < backing y.
  rewrite /backing (bigD1 x) //=; apply: ltr_paddr => //.
  by apply: sumr_ge0 => t _; apply: ltW.
have pz := lt0r_neq0 (p_gt0 z); have share := lt0r_neq0 share_gt0.
have m_neq0 : mean p (safe y) != 0 by rewrite safe_mean mulf_neq0 // lt0r_neq0.
rewrite -/(mean p (safe y)); move: share m_neq0; set s := _^-1; set m := mean _ _ => s0 m0.
by field; rewrite pz s0 m0.
Qed.

End Ranks.

Section LocalPrivacy.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Hypothesis p_sum : \sum_x p x = 1.

(** The rarest secret. *)
Variable least : X.
Hypothesis p_least : forall x, p least <= p x.

(** Proposition 1 of the second paper.  From the level [ln (1 / p_min)] on every mechanism
    keeps it.  Below, local differential privacy at [ln b] is enough, with the paper's [b]. *)
Theorem song_prop_1 (c : R) (P : Y -> X -> R) : 0 < c -> mechanism P ->
  (1 <= c * p least -> keeps p c P) /\
  (c * p least < 1 -> forall b, b <= (1 - p least) / (c^-1 - p least) ->
     (forall y x z, P y x <= b * P y z) -> keeps p c P).
Proof.
move=> c_gt0 [P_ge0 P_one].
have others y x : 0 <= \sum_(z | z != x) p z * P y z.
  by apply: sumr_ge0 => z _; apply: mulr_ge0 => //; apply: ltW.
split=> [large y x|small b b_le private y x].
  rewrite /mean (bigD1 x) //= mulrDr -[X in X <= _]addr0; apply: ler_add; last first.
    by apply: mulr_ge0 => //; apply: ltW.
  rewrite mulrA ler_pemull //; apply: le_trans large _; apply: ler_wpmul2l => //; exact: ltW.
have gap : 0 < c^-1 - p least by rewrite subr_gt0 -[c^-1]mulr1 ltr_pdivl_mull.
have {b_le} b_le : b * (1 - c * p least) <= c * (1 - p least).
  have -> : b * (1 - c * p least) = c * (b * (c^-1 - p least)).
    by field; apply: lt0r_neq0.
  by rewrite ler_pmul2l // -ler_pdivl_mulr.
have [b1|b1] := ltP b 1.
  have zero z : P y z = 0.
    apply/eqP; rewrite eq_le P_ge0 andbT.
    have := private y z z; rewrite -subr_ge0 -{2}[P y z]mul1r -mulrBl nmulr_rge0 //.
    by rewrite subr_lt0.
  by rewrite /mean big1 ?zero ?mulr0 // => z _; rewrite zero mulr0.
have spread : (1 + (b - 1) * p least) * P y x <= b * mean p (P y).
  apply: (@le_trans _ _ ((1 + (b - 1) * p x) * P y x)).
    apply: ler_wpmul2r => //; rewrite ler_add2l; apply: ler_wpmul2l => //.
    by rewrite subr_ge0.
  have rest : \sum_(z | z != x) p z = 1 - p x by rewrite -p_sum [in RHS](bigD1 x) //= addrC addKr.
  rewrite /mean (bigD1 x) //= mulrDr mulr_sumr.
  have -> : (1 + (b - 1) * p x) * P y x = b * (p x * P y x) + (1 - p x) * P y x by ring.
  rewrite ler_add2l -rest mulr_suml; apply: ler_sum => z _.
  by rewrite mulrCA; apply: ler_wpmul2l; [apply: ltW | apply: private].
have b_gt0 : 0 < b by exact: lt_le_trans ltr01 b1.
rewrite -(ler_pmul2l b_gt0) [b * (c * _)]mulrCA.
apply: (@le_trans _ _ (c * ((1 + (b - 1) * p least) * P y x))).
  rewrite mulrA; apply: ler_wpmul2r => //; rewrite -subr_ge0.
  have -> : c * (1 + (b - 1) * p least) - b = c * (1 - p least) - b * (1 - c * p least) by ring.
  by rewrite subr_ge0.
by apply: ler_wpmul2l => //; apply: ltW.
Qed.

End LocalPrivacy.
