(** The vertices of the polytope of mechanisms, in the first privacy region.

    Each mechanism of the level is the high-privacy mechanism, processed by a channel, in one
    way only.  The vertices among the channels are maps from secrets to outcomes. *)
From pmlbook Require Import base leakage designs.
From pmlbook Require mechanisms.

Section Structure.

Variable R : realFieldType.
Variables X Y : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Hypothesis p_sum : \sum_x p x = 1.
Variable c : R.
Hypothesis c_gt1 : 1 < c.
Hypothesis region : forall x, c * (1 - p x) <= 1.
Implicit Types (P W : Y -> X -> R) (r : X -> Y).

Let p_ge0 x : 0 <= p x. Proof. exact: ltW. Qed.
Let c1_gt0 : 0 < c - 1. Proof. by rewrite subr_gt0. Qed.

(** A vertex: a mechanism of the level, and no mixture of two others. *)
Definition extremal P : Prop :=
  [/\ mechanism P, keeps p c P
    & forall (A B : Y -> X -> R) h, mechanism A -> keeps p c A -> mechanism B -> keeps p c B ->
        0 < h < 1 -> (forall y x, P y x = h * A y x + (1 - h) * B y x) ->
        (forall y x, A y x = P y x) /\ (forall y x, B y x = P y x)].

(** The high-privacy mechanism, processed by the channel [W], and the channel of a mechanism. *)
Definition processed W y x : R := c * mean p (W y) - (c - 1) * W y x.
Definition channel P y x : R := (c * mean p (P y) - P y x) / (c - 1).

Lemma mean_affine a b (v : X -> R) : mean p (fun x => a - b * v x) = a - b * mean p v.
Proof.
rewrite /mean -[a in RHS]mul1r -p_sum mulr_suml mulr_sumr -sumrB.
by apply: eq_bigr => x _; ring.
Qed.

Lemma processed_mean W y : mean p (processed W y) = mean p (W y).
Proof. rewrite mean_affine; ring. Qed.

Lemma mean_total W : (forall x, \sum_y W y x = 1) -> \sum_y mean p (W y) = 1.
Proof.
move=> W_one; rewrite /mean exchange_big /= -[RHS]p_sum; apply: eq_bigr => x _.
by rewrite -mulr_sumr W_one mulr1.
Qed.

(** In the region a processed channel is a mechanism of the level. *)
Lemma processed_allowed W : mechanism W -> mechanism (processed W) /\ keeps p c (processed W).
Proof.
move=> [W_ge0 W_one]; split; last first.
  by move=> y x; rewrite processed_mean ler_subl_addr ler_addl mulr_ge0 // ltW.
split=> [y x|x]; last first.
  by rewrite sumrB -!mulr_sumr W_one mean_total // !mulr1 opprB addrC subrK.
rewrite subr_ge0; apply: (@le_trans _ _ (c * (p x * W y x))).
  rewrite mulrA; apply: ler_wpmul2r => //; have := region x.
  by rewrite mulrBr mulr1 ler_subl_addl addrC -ler_subl_addl.
apply: ler_wpmul2l; first exact: ltW (lt_trans ltr01 c_gt1).
by rewrite /mean (bigD1 x) //= ler_addl; apply: sumr_ge0 => z _; apply: mulr_ge0.
Qed.

Lemma channel_mechanism P : mechanism P -> keeps p c P -> mechanism (channel P).
Proof.
move=> [P_ge0 P_one] P_keeps; split=> [y x|x].
  by apply: divr_ge0; [rewrite subr_ge0; apply: P_keeps | apply: ltW].
by rewrite -mulr_suml sumrB -mulr_sumr mean_total // P_one mulr1 divff // lt0r_neq0.
Qed.

Lemma channelK P y x : processed (channel P) y x = P y x.
Proof.
have -> : processed (channel P) y x = c * mean p (channel P y) - (c * mean p (P y) - P y x).
  by rewrite /processed [(c - 1) * _]mulrC {2}/channel divfK ?lt0r_neq0.
have -> : mean p (channel P y) = mean p (P y).
  transitivity (mean p (fun x => c / (c - 1) * mean p (P y) - (c - 1)^-1 * P y x)).
    by apply: eq_bigr => z _; congr (_ * _); rewrite /channel; field; apply: lt0r_neq0.
  by rewrite mean_affine; field; apply: lt0r_neq0.
by rewrite opprB addrC subrK.
Qed.

Lemma processedK W y x : channel (processed W) y x = W y x.
Proof.
rewrite /channel processed_mean /processed; field; exact: lt0r_neq0.
Qed.

Lemma processed_eq (V W : Y -> X -> R) : (forall y x, V y x = W y x) ->
  forall y x, processed V y x = processed W y x.
Proof.
by move=> VW y x; rewrite /processed VW /mean; under eq_bigr => z _ do rewrite VW.
Qed.

Lemma processed_inj (V W : Y -> X -> R) : (forall y x, processed V y x = processed W y x) ->
  forall y x, V y x = W y x.
Proof.
move=> VW y x; rewrite -processedK -[RHS]processedK /channel VW.
by rewrite /mean; under eq_bigr => z _ do rewrite VW.
Qed.

Lemma processed_mix (V W U : Y -> X -> R) h :
  (forall y x, U y x = h * V y x + (1 - h) * W y x) ->
  forall y x, processed U y x = h * processed V y x + (1 - h) * processed W y x.
Proof.
move=> U_mix y x; rewrite /processed U_mix.
have -> : mean p (U y) = h * mean p (V y) + (1 - h) * mean p (W y).
  by rewrite /mean !mulr_sumr -big_split; apply: eq_bigr => z _ /=; rewrite U_mix; ring.
ring.
Qed.

(** The channel that sends the secret [x] to [r x], and the mechanism that it makes. *)
Definition sends r y x : R := (r x == y)%:R.
Definition vertex r : Y -> X -> R := processed (sends r).

Lemma sends_mechanism r : mechanism (sends r).
Proof.
split=> [y x|x]; first exact: ler0n.
by rewrite (bigD1 (r x)) //= /sends eqxx big1 ?addr0 // => y /negPf; rewrite eq_sym => ->.
Qed.

(** An entry of a channel at a vertex is zero or one: else its row can be moved both ways. *)
Lemma whole_entries P y x : extremal P -> 0 < channel P y x -> channel P y x = 1.
Proof.
move=> [P_mech P_keeps P_ext] pos; have [W_ge0 W_one] := channel_mechanism P_mech P_keeps.
set W := channel P in pos W_ge0 W_one *; set h := W y x.
apply/eqP; rewrite eq_le -{1}(W_one x) (bigD1 y) //= ler_addl sumr_ge0 //= leNgt.
apply/negP => h_lt1; have h1 : 0 < 1 - h by rewrite subr_gt0.
pose A z u := if u == x then (z == y)%:R else W z u.
pose B z u := if u == x then (if z == y then 0 else W z x / (1 - h)) else W z u.
have A_mech : mechanism A.
  split=> [z u|u]; rewrite /A; first by case: ifP => _; rewrite ?ler0n.
  case: eqP => _; last exact: W_one.
  by rewrite (bigD1 y) //= eqxx big1 ?addr0 // => z /negPf ->.
have B_mech : mechanism B.
  split=> [z u|u]; rewrite /B.
    by case: ifP => _ //; case: ifP => _ //; rewrite divr_ge0 // ltW.
  case: eqP => _; last exact: W_one.
  rewrite (bigD1 y) //= eqxx add0r (eq_bigr (fun z => W z x / (1 - h))) => [|z /negPf -> //].
  rewrite -mulr_suml; have -> : \sum_(z | z != y) W z x = 1 - h.
    by rewrite -(W_one x) [in RHS](bigD1 y) //= -/h [h + _]addrC addrK.
  by rewrite divff // lt0r_neq0.
have mix z u : W z u = h * A z u + (1 - h) * B z u.
  rewrite /A /B; case: eqP => [->|_]; last by ring.
  case: eqP => [->|_]; first by rewrite mulr1 mulr0 addr0.
  by rewrite mulr0 add0r mulrC divfK // lt0r_neq0.
have [pA kA] := processed_allowed A_mech; have [pB kB] := processed_allowed B_mech.
have [] := P_ext _ _ h pA kA pB kB; first by rewrite pos.
  by move=> z u; rewrite -(processed_mix mix) channelK.
move=> same _; have : A y x = W y x.
  by apply: processed_inj => z u; rewrite same channelK.
by rewrite /A !eqxx => e; move: h_lt1; rewrite /h -e ltxx.
Qed.

Lemma vertex_extremal r : extremal (vertex r).
Proof.
have sends_mech := sends_mechanism r; have [mech keep] := processed_allowed sends_mech.
split=> // A B h A_mech A_keeps B_mech B_keeps /andP [h0 h1] mix.
have [[A_ge0 A_one] [B_ge0 B_one]] :=
  (channel_mechanism A_mech A_keeps, channel_mechanism B_mech B_keeps).
have W_mix : forall y x, sends r y x = h * channel A y x + (1 - h) * channel B y x.
  apply: processed_inj => y x; rewrite [RHS](@processed_mix (channel A) (channel B) _ h) //.
  by rewrite !channelK -mix.
have {}h1 : 0 < 1 - h by rewrite subr_gt0.
have zero y x : r x != y -> channel A y x = 0 /\ channel B y x = 0.
  move=> /negPf rx; move/esym/eqP: (W_mix y x) (A_ge0 y x) (B_ge0 y x); rewrite /sends rx.
  move: (channel A y x) (channel B y x) => a b + a0 b0.
  rewrite paddr_eq0; [|by rewrite mulr_ge0 // ltW|by rewrite mulr_ge0 // ltW].
  by rewrite !mulf_eq0 (gt_eqF h0) (gt_eqF h1) /= => /andP [/eqP -> /eqP ->].
have one (W : Y -> X -> R) : (forall x, \sum_y W y x = 1) ->
    (forall y x, r x != y -> W y x = 0) -> forall y x, W y x = sends r y x.
  move=> W_one W_out y x; rewrite /sends; have [<-|/W_out -> //] := eqVneq (r x) y.
  by rewrite -(W_one x) (bigD1 (r x)) //= big1 ?addr0 // => z; rewrite eq_sym => /W_out.
have same (Q : Y -> X -> R) : (forall y x, channel Q y x = sends r y x) ->
    forall y x, Q y x = vertex r y x.
  by move=> Q_same y x; rewrite -channelK; apply: processed_eq.
by split; apply: same; apply: one => // y x /zero [].
Qed.

(** The vertices are the maps from secrets to outcomes, each once. *)
Theorem vertices_are_maps :
  (forall P, extremal P <-> exists r, forall y x, P y x = vertex r y x) /\
  (forall r s, (forall y x, vertex r y x = vertex s y x) -> r =1 s).
Proof.
split=> [P|r s same x]; last first.
  have /(_ (r x) x) := processed_inj same; rewrite /sends eqxx.
  by case: eqP => [->//|_] /eqP; rewrite oner_eq0.
split=> [P_ext|[r same]].
  have [P_mech P_keeps _] := P_ext; have [W_ge0 W_one] := channel_mechanism P_mech P_keeps.
  have /fin_all_exists [r r_one] x : exists y, channel P y x = 1.
    have [y pos|none] := pickP (fun y => channel P y x != 0).
      by exists y; apply: whole_entries => //; rewrite lt_neqAle W_ge0 eq_sym pos.
    have := W_one x; rewrite big1 => [/eqP|y _]; first by rewrite eq_sym oner_eq0.
    by apply/eqP; have := none y; case: eqP.
  exists r => y x; rewrite -[LHS]channelK; apply: processed_eq => {y x} y x.
  rewrite /sends; have [<-|ry] := eqVneq (r x) y; first exact: r_one.
  have := W_one x; rewrite (bigD1 (r x)) //= r_one -[RHS]addr0 => /addrI /eqP.
  rewrite psumr_eq0 => [/allP /(_ y)|z _]; last exact: W_ge0.
  by rewrite mem_index_enum eq_sym ry => /(_ isT) /eqP.
have [mech keep ext] := vertex_extremal r.
have PE : forall y, mean p (P y) = mean p (vertex r y).
  by move=> y; apply: eq_bigr => x _; rewrite same.
split.
- split=> [y x|x]; first by rewrite same; case: mech.
  by under eq_bigr => y _ do rewrite same; case: mech.
- by move=> y x; rewrite same -/(mean p (P y)) PE; apply: keep.
move=> A B h A1 A2 B1 B2 h01 mix; have [|a b] := ext A B h A1 A2 B1 B2 h01.
  by move=> y x; rewrite -same.
by split=> y x; rewrite same.
Qed.

(** Outcomes that occur, and entries that do not spend the whole budget. *)
Definition used P : {set Y} := [set y | [exists x, P y x != 0]].
Definition inner P y : {set X} := [set x | P y x != c * mean p (P y)].

Lemma sends_mean r y : mean p (sends r y) = \sum_(x | r x == y) p x.
Proof.
rewrite [RHS]big_mkcond; apply: eq_bigr => x _.
by rewrite /sends; case: eqP; rewrite ?mulr1 ?mulr0.
Qed.

Lemma vertex_mean r y : mean p (vertex r y) = mean p (sends r y).
Proof. exact: processed_mean. Qed.

Lemma inner_vertex r y : inner (vertex r) y = [set x | r x == y].
Proof.
apply/setP => x; rewrite !inE vertex_mean.
have -> : vertex r y x = c * mean p (sends r y) - (c - 1) * (r x == y)%:R by [].
case: (r x == y); last by rewrite mulr0 subr0 eqxx.
by rewrite mulr1 -subr_eq0 addrAC subrr sub0r oppr_eq0 gt_eqF.
Qed.

Lemma used_vertex r : used (vertex r) = [set r x | x in X].
Proof.
apply/setP => y; rewrite inE; apply/existsP/imsetP => [[x]|[x _ ->]]; last first.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP zero.
  have m0 : mean p (vertex r (r x)) = 0.
    by rewrite /mean big1 // => z _; have := zero z; rewrite negbK => /eqP ->; rewrite mulr0.
  move: m0; rewrite vertex_mean sends_mean => /eqP; rewrite psumr_eq0 // => /allP /(_ x).
  by rewrite mem_index_enum eqxx gt_eqF // => /(_ isT).
move=> nz; have [z /eqP rz|none] := pickP (fun z => r z == y); first by exists z.
move: nz; rewrite /vertex /processed sends_mean big_pred0 // /sends none.
by rewrite !mulr0 subr0 eqxx.
Qed.

Lemma same_inner P Q y : (forall x, P y x = Q y x) -> inner P y = inner Q y.
Proof.
move=> PQ; apply/setP => x; rewrite !inE PQ /mean.
by under eq_bigr => z _ do rewrite PQ.
Qed.

Lemma same_used P Q : (forall y x, P y x = Q y x) -> used P = used Q.
Proof.
by move=> PQ; apply/setP => y; rewrite !inE; apply: eq_existsb => x; rewrite PQ.
Qed.

(** Lemma 3 of the first paper: with as many outcomes as secrets, all of them used, each column
    of a vertex has the budget in all places but one, and that one in different rows. *)
Theorem grosse_lem_3 P : #|Y| = #|X| -> extremal P -> used P = setT ->
  exists2 r : Y -> X, bijective r & forall y x, P y x != c * mean p (P y) <-> x = r y.
Proof.
move=> YX /(vertices_are_maps.1 P).1 [s same]; rewrite (same_used same) used_vertex => all.
have /imset_injP s_in : #|[set s x | x in X]| == #|X| by rewrite all cardsT YX.
have s_inj : injective s by move=> x z; apply: s_in.
have [r sK rK] := inj_card_bij s_inj (eq_leq YX).
exists r; first by exists s.
move=> y x; have := inner_vertex s y; rewrite -(same_inner (P := P)) // => /setP /(_ x).
by rewrite !inE => ->; split=> [/eqP <-|->]; rewrite ?sK ?rK.
Qed.

(** Lemma 4 of the first paper, for [k] columns of zeros: in a column of a vertex all entries
    have the budget or the budget minus [c - 1]; a used column has the latter between once and
    [k + 1] times, the used columns together as often as there are secrets, each row once. *)
Theorem grosse_lem_4 P : #|Y| = #|X| -> extremal P ->
  let k := #|~: used P| in
  let budget y := c * mean p (P y) in
  [/\ forall y x, P y x = if x \in inner P y then budget y - (c - 1) else budget y,
      forall y, y \in used P -> (0 < #|inner P y| <= k.+1)%N,
      (\sum_(y in used P) #|inner P y| = #|X|)%N
    & forall x, exists2 y, y \in used P & forall z, (x \in inner P z) = (z == y)].
Proof.
move=> YX /(vertices_are_maps.1 P).1 [r same] k budget.
have innerE y : inner P y = [set x | r x == y].
  by rewrite -inner_vertex; apply: same_inner => x; apply: same.
have usedE : used P = [set r x | x in X] by rewrite -used_vertex; apply: same_used.
have total : (\sum_(y in used P) #|inner P y| = #|X|)%N.
  rewrite -[RHS]sum1_card (partition_big r (mem (used P))) /= => [|x _]; last first.
    by rewrite usedE imset_f.
  by apply: eq_bigr => y _; rewrite innerE -sum1dep_card.
have some y : y \in used P -> (0 < #|inner P y|)%N.
  rewrite usedE => /imsetP [x _ ->]; rewrite innerE; apply/card_gt0P; exists x.
  by rewrite inE.
split=> // [y x|y y_used|x].
- have mE : mean p (P y) = mean p (sends r y).
    by rewrite -vertex_mean; apply: eq_bigr => z _; rewrite same.
  rewrite /budget innerE inE mE same /vertex /processed {2}/sends.
  by case: (r x == y); rewrite ?mulr1 // mulr0 subr0.
- have others : (#|used P :\ y| + #|inner P y| <= #|X|)%N.
    rewrite -total (bigD1 y) //= addnC leq_add2l -sum1_card.
    rewrite [X in (X <= _)%N](eq_bigl (fun z => (z \in used P) && (z != y))) => [|z]; last first.
      by rewrite !inE andbC.
    by apply: leq_sum => z /andP [z_used _]; apply: some.
  have more := leq_trans _ others; rewrite some //= /k [#|~: _|]cardsCs setCK YX (cardsD1 y) y_used.
  rewrite -subSn ?subSS ?leq_subRL //; last by apply: more; rewrite addnC leq_add2l some.
  by apply: more; apply: leq_addr.
exists (r x) => [|z]; first by rewrite usedE imset_f.
by rewrite innerE inE eq_sym.
Qed.

(** Two outcomes merged: the second is answered by the first. *)
Definition merged (u v : Y) P y x : R :=
  if y == u then P u x + P v x else if y == v then 0 else P y x.

Lemma merged_vertex u v r y x : u != v ->
  merged u v (vertex r) y x = vertex (fun x => if r x == v then u else r x) y x.
Proof.
move=> uv; set s := fun _ => _; have sendsE z w : sends s z w = merged u v (sends r) z w.
  rewrite /s /sends /merged; have [->|zu] := eqVneq z u.
    have [->|_] := eqVneq (r w) v; last by rewrite addr0.
    by rewrite eqxx eq_sym (negPf uv) add0r.
  have [->|zv] := eqVneq z v; have [rv|rv] := eqVneq (r w) v; rewrite ?(negPf uv) //.
  - by case: eqP rv => // -> ; rewrite ?eqxx.
  - by rewrite rv ![u == z]eq_sym (negPf zu) ![v == z]eq_sym (negPf zv).
rewrite [RHS](processed_eq sendsE) /vertex /processed /merged.
case: eqP => _; first by rewrite /mean; under [in RHS]eq_bigr => z _ do rewrite mulrDr;
  rewrite big_split /=; ring.
case: eqP => _ //.
by rewrite /mean big1 => [|z _]; rewrite !mulr0 ?subr0.
Qed.

(** Lemma 5 of the first paper: a vertex with two outcomes merged is a vertex. *)
Theorem grosse_lem_5 u v P : u != v -> extremal P -> extremal (merged u v P).
Proof.
move=> uv /(vertices_are_maps.1 P).1 [r same]; apply/(vertices_are_maps.1 _).
exists (fun x => if r x == v then u else r x) => y x.
by rewrite -merged_vertex // /merged !same.
Qed.

(** Lemma 6 of the first paper: a vertex that leaves an outcome unused is a vertex that uses one
    more, with two of its outcomes merged. *)
Theorem grosse_lem_6 Q : #|Y| = #|X| -> extremal Q -> (#|used Q| < #|X|)%N ->
  exists P u v, [/\ u != v, u \in used P /\ v \in used P, extremal P,
    #|used P| = #|used Q|.+1 & forall y x, Q y x = merged u v P y x].
Proof.
move=> YX /(vertices_are_maps.1 Q).1 [r same]; rewrite (same_used same) used_vertex => few.
have /injectivePn [x1 [x2 x12 r12]] : ~~ injectiveb r.
  by apply: contraL few => /injectiveP r_inj; rewrite card_imset // ltnn.
have [v v_out] : exists v, v \notin [set r x | x in X].
  apply/existsP; apply: contraLR few; rewrite negb_exists -leqNgt -YX -cardsT => /forallP all.
  by apply/subset_leq_card/subsetP => v _; have := all v; rewrite negbK.
have rv x : r x != v by apply: contraNneq v_out => <-; rewrite imset_f.
pose s x := if x == x1 then v else r x.
have s_used : used (vertex s) = v |: used (vertex r).
  rewrite !used_vertex; apply/setP => y; rewrite in_setU1; apply/imsetP/orP.
    move=> [x _ ->]; rewrite /s; case: (x =P x1) => _; [by left | by right; rewrite imset_f].
  move=> [/eqP ->|/imsetP [x _ ->]]; first by exists x1; rewrite // /s eqxx.
  have [->|x_x1] := eqVneq x x1; last by exists x; rewrite // /s (negPf x_x1).
  by exists x2; rewrite // /s eq_sym (negPf x12).
exists (vertex s), (r x1), v; split=> //.
- rewrite s_used !in_setU1 eqxx used_vertex; split=> //.
  by rewrite imset_f ?orbT.
- exact: vertex_extremal.
- by rewrite s_used cardsU1 used_vertex v_out.
move=> y x; rewrite merged_vertex // same; apply: processed_eq => {y x} y x.
rewrite /sends /s; have [->|x_x1] := eqVneq x x1; first by rewrite eqxx.
by rewrite (negPf (rv x)).
Qed.

(** Lemma 7 of the first paper: no mechanism of the level has more of a sub-linear utility than
    a vertex that uses all outcomes.  That the other leaves an outcome unused is not needed. *)
Theorem grosse_lem_7 P (mu : (X -> R) -> R) (Z : finType) (Q : Z -> X -> R) : #|Y| = #|X| ->
  sublinear mu -> extremal P -> used P = setT -> mechanism Q -> keeps p c Q ->
  utility mu Q <= utility mu P.
Proof.
move=> YX mu_sub /(vertices_are_maps.1 P).1 [r same] all Q_mech Q_keeps.
have [_ _ /le_trans] := mechanisms.grosse_thm_3 p_gt0 p_sum mu_sub Q_mech Q_keeps region.
apply; move: all; rewrite (same_used same) used_vertex => all.
have /imset_injP r_in : #|[set r x | x in X]| == #|X| by rewrite all cardsT YX.
have r_inj : injective r by move=> x z; apply: r_in.
have r_bij : bijective r by have [s sK rK] := inj_card_bij r_inj (eq_leq YX); exists s.
rewrite /utility [X in _ <= X](reindex r) /=; last exact: onW_bij.
rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => j _.
apply: (respects mu_sub) => x; rewrite same /vertex /processed sends_mean.
rewrite (eq_bigl (pred1 j)) => [|z]; last by rewrite /= (inj_eq r_inj).
rewrite big_pred1_eq /sends (inj_eq r_inj) /mechanisms.high.
by case: eqP => _; rewrite ?mulr1 ?mulr0 ?subr0 //; ring.
Qed.

End Structure.
