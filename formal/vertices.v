(** Vertices of the lift polytope, and the linear programme over them.

    A lift vector of the level [ln c] has entries between [0] and [c] and the mean one.
    At a vertex all entries but one are [0] or [c]; mixtures of vertices are all vectors. *)
From pmlbook Require Import base leakage designs programme.
From pmlbook Require mechanisms.

Section Vertices.

Variable R : realFieldType.
Variable X : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Variable c : R.
Hypothesis c_gt0 : 0 < c.

(** The polytope (13) of the first paper.  Its last condition, that the secrets with positive
    entries have a mass of at least [1 / c], follows: the mean is at most [c] times it. *)
Definition lifts (q : X -> R) : Prop :=
  (forall x, 0 <= q x <= c) /\ \sum_x p x * q x = 1.

(** A pattern [(S, j)]: [c] on [S], the rest of the mean at [j], zero elsewhere. *)
Definition pattern := ({set X} * X)%type.

Definition rest (e : pattern) : R := (1 - c * \sum_(x in e.1) p x) / p e.2.

Definition vertex (e : pattern) (x : X) : R :=
  if x == e.2 then rest e else if x \in e.1 then c else 0.

(** What Algorithm 1 of the first paper lists, with its [J] as [S] and [j] together. *)
Definition listed : {set pattern} :=
  [set e : pattern | (e.2 \notin e.1) && (0 <= rest e <= c)].

Lemma vertex_lifts e : e \in listed -> lifts (vertex e).
Proof.
rewrite inE => /andP [out rest_in]; split=> [x|].
  by rewrite /vertex; case: eqP => // _; case: ifP => _; rewrite ?lexx ltW.
rewrite (bigD1 e.2) //= {1}/vertex eqxx /rest mulrC divfK ?lt0r_neq0 //.
rewrite [X in _ + X](eq_bigr (fun x => if x \in e.1 then p x * c else 0)); last first.
  by move=> x /negPf xj; rewrite /vertex xj; case: ifP; rewrite ?mulr0.
rewrite -big_mkcondr /= [X in _ + X](eq_bigl (mem e.1)); last first.
  by move=> x; case: eqP => // -> /=; rewrite (negPf out).
by rewrite -mulr_suml mulrC addrNK.
Qed.

Definition inner (q : X -> R) : {set X} := [set x | 0 < q x < c].

(** With at most one inner entry a lift vector is a vertex. *)
Lemma few_inner q j : lifts q -> inner q \subset [set j] ->
  exists2 e, e \in listed & q =1 vertex e.
Proof.
move=> [q_in q_mean] /subsetP one.
have ends x : x != j -> q x = if q x == c then c else 0.
  move=> xj; case: eqP => // /eqP qc; have /andP [q0 q1] := q_in x.
  apply/eqP; apply: contraNT xj => q_neq0; rewrite -in_set1; apply: one.
  by rewrite inE !lt_neqAle q0 q1 qc eq_sym q_neq0.
pose e : pattern := ([set x | (x != j) && (q x == c)], j).
have restE : rest e = q j.
  rewrite /rest /= -q_mean (bigD1 j) //= mulr_sumr.
  rewrite [X in (_ + X - _)](eq_bigr (fun x => if q x == c then c * p x else 0)); last first.
    by move=> x /ends qx; rewrite {1}qx; case: ifP; rewrite ?mulr0 // mulrC.
  rewrite -big_mkcondr /= [X in _ - X](eq_bigl (fun x => (x != j) && (q x == c))); last first.
    by move=> x; rewrite inE.
  by rewrite addrK mulrC mulKf // lt0r_neq0.
exists e; first by rewrite inE restE q_in /= inE eqxx.
move=> x; rewrite /vertex /= restE; case: eqP => [-> //|/eqP xj].
by rewrite inE xj /= -ends.
Qed.

(** Moving mean from one inner entry to another, as far as the level allows. *)
Definition unit_mean (x z : X) : R := (z == x)%:R / p x.

Definition moved (q : X -> R) (x1 x2 : X) (t : R) (z : X) : R :=
  q z + t * (unit_mean x1 z - unit_mean x2 z).

Lemma push q x1 x2 : lifts q -> x1 != x2 -> x1 \in inner q -> x2 \in inner q ->
  exists t, [/\ 0 < t, lifts (moved q x1 x2 t) & (#|inner (moved q x1 x2 t)| < #|inner q|)%N].
Proof.
move=> [q_in q_mean] x12 in1 in2.
have [/andP [q1_gt0 q1_lt] /andP [q2_gt0 q2_lt]] : 0 < q x1 < c /\ 0 < q x2 < c.
  by move: in1 in2; rewrite !inE.
pose t := Num.min ((c - q x1) * p x1) (q x2 * p x2).
have t_gt0 : 0 < t by rewrite lt_minr !mulr_gt0 ?subr_gt0.
pose r := moved q x1 x2 t.
have r1 : r x1 = q x1 + t / p x1.
  by rewrite /r /moved /unit_mean eqxx (negPf x12) mul0r subr0 mul1r.
have r2 : r x2 = q x2 - t / p x2.
  by rewrite /r /moved /unit_mean eqxx eq_sym (negPf x12) mul0r sub0r mul1r mulrN.
have r_out x : x != x1 -> x != x2 -> r x = q x.
  by move=> /negPf n1 /negPf n2; rewrite /r /moved /unit_mean n1 n2 !mul0r subr0 mulr0 addr0.
have r1_le : r x1 <= c.
  by rewrite r1 -ler_subr_addl ler_pdivr_mulr // le_minl lexx.
have r2_ge0 : 0 <= r x2.
  by rewrite r2 subr_ge0 ler_pdivr_mulr // le_minl lexx orbT.
have r_in x : 0 <= r x <= c.
  have [->|n1] := eqVneq x x1.
    by rewrite r1_le r1 andbT addr_ge0 ?divr_ge0 // ltW.
  have [->|n2] := eqVneq x x2.
    rewrite r2_ge0 r2 /= (le_trans _ (ltW q2_lt)) // ler_subl_addr ler_addl.
    by rewrite divr_ge0 // ltW.
  by rewrite r_out.
have r_mean : \sum_x p x * r x = 1.
  have one y : \sum_x p x * unit_mean y x = 1.
    rewrite (bigD1 y) //= big1 ?addr0 => [|z /negPf zy]; rewrite /unit_mean ?zy ?mul0r ?mulr0 //.
    by rewrite eqxx mul1r mulfV // lt0r_neq0.
  rewrite -[RHS]q_mean /r /moved; under eq_bigr => x _ do rewrite mulrDr mulrCA mulrBr.
  by rewrite big_split -mulr_sumr /= sumrB !one subrr mulr0 addr0.
exists t; split=> //; rewrite -/r; apply: proper_card; apply/properP; split.
  apply/subsetP => x; have [-> //|n1] := eqVneq x x1; have [-> //|n2] := eqVneq x x2.
  by rewrite !inE r_out.
have [small|large] := leP ((c - q x1) * p x1) (q x2 * p x2).
  exists x1 => //; rewrite inE r1 /t min_l // mulfK ?lt0r_neq0 //.
  by rewrite addrC subrK ltxx andbF.
by exists x2 => //; rewrite inE r2 /t min_r ?ltW // mulfK ?lt0r_neq0 // subrr ltxx.
Qed.

(** So a vector with two inner entries is a mixture of two vectors with fewer. *)
Lemma halves q x1 x2 : lifts q -> x1 != x2 -> x1 \in inner q -> x2 \in inner q ->
  exists a b h, [/\ lifts a /\ lifts b, 0 < h < 1, forall x, q x = h * a x + (1 - h) * b x,
    (#|inner a| < #|inner q|)%N & (#|inner b| < #|inner q|)%N].
Proof.
move=> q_lifts x12 in1 in2; have x21 : x2 != x1 by rewrite eq_sym.
have [t [t_gt0 a_lifts a_less]] := push q_lifts x12 in1 in2.
have [s [s_gt0 b_lifts b_less]] := push q_lifts x21 in2 in1.
have st_gt0 : 0 < s + t by exact: addr_gt0.
exists (moved q x1 x2 t), (moved q x2 x1 s), (s / (s + t)); split=> //.
  by rewrite divr_gt0 //= ltr_pdivr_mulr // mul1r ltr_addl.
by move=> x; rewrite /moved; field; rewrite lt0r_neq0.
Qed.

Lemma lifts_one q : lifts q -> (#|inner q| <= 1)%N ->
  exists2 e, e \in listed & q =1 vertex e.
Proof.
move=> q_lifts few; have [j one] : exists j, inner q \subset [set j].
  have [-> | [j jq]] := set_0Vmem (inner q).
    case: (pickP X) => [x _|none]; first by exists x; apply: sub0set.
    by have [_ /eqP] := q_lifts; rewrite big_pred0 // eq_sym oner_eq0.
  exists j; apply/subsetP => x xq; rewrite inE; apply: contraTT few => xj.
  rewrite -ltnNge; apply: leq_trans (subset_leq_card (A := [set x; j]) _).
    by rewrite cards2 xj.
  by apply/subsetP => z; rewrite !inE => /orP [] /eqP ->; move: xq jq; rewrite !inE.
exact: few_inner one.
Qed.

Lemma two_inner q : (1 < #|inner q|)%N ->
  exists x1 x2, [/\ x1 != x2, x1 \in inner q & x2 \in inner q].
Proof.
case/card_gt1P => x1 [x2 [in1 in2 x12]]; by exists x1, x2.
Qed.

(** Every lift vector is a mixture of listed vertices. *)
Lemma mixture q : lifts q -> exists w : pattern -> R,
  [/\ forall e, 0 <= w e, forall e, e \notin listed -> w e = 0, \sum_e w e = 1
    & forall x, \sum_e w e * vertex e x = q x].
Proof.
have [n] := ubnP #|inner q|; elim: n q => // n IH q; rewrite ltnS => small q_lifts.
have [few|/two_inner [x1 [x2 [x12 in1 in2]]]] := leqP #|inner q| 1.
  have [e e_listed qe] := lifts_one q_lifts few.
  exists (fun i => (i == e)%:R); split=> [i|i||x].
  - exact: ler0n.
  - by case: eqP => // ->; rewrite e_listed.
  - by rewrite (bigD1 e) //= eqxx big1 ?addr0 // => i /negPf ->.
  rewrite (bigD1 e) //= eqxx mul1r big1 ?addr0 // => i /negPf ->.
  by rewrite mul0r.
have [a [b [h [[a_lifts b_lifts] /andP [h0 h1] qE a_less b_less]]]] :=
  halves q_lifts x12 in1 in2.
have [u [u_ge0 u_out u_sum uE]] := IH a (leq_trans a_less small) a_lifts.
have [v [v_ge0 v_out v_sum vE]] := IH b (leq_trans b_less small) b_lifts.
exists (fun e => h * u e + (1 - h) * v e); split=> [e|e out||x].
- by rewrite addr_ge0 ?mulr_ge0 ?subr_ge0 // ltW.
- by rewrite u_out // v_out // !mulr0 addr0.
- by rewrite big_split -!mulr_sumr /= u_sum v_sum !mulr1 addrC subrK.
rewrite qE -uE -vE !mulr_sumr -big_split; apply: eq_bigr => e _ /=; ring.
Qed.

Lemma both_zero (u v h : R) : 0 < h < 1 -> 0 <= u -> 0 <= v -> h * u + (1 - h) * v = 0 ->
  u = 0 /\ v = 0.
Proof.
case/andP=> h0 h1 u_ge0 v_ge0 /eqP; have h1' : 0 < 1 - h by rewrite subr_gt0.
rewrite paddr_eq0 ?(pmulr_rge0 _ h0) ?(pmulr_rge0 _ h1') // => /andP [].
by rewrite !mulf_eq0 (gt_eqF h0) (gt_eqF h1') /= => /eqP -> /eqP ->.
Qed.

(** Extreme points: no mixture of two others. *)
Definition extreme (q : X -> R) : Prop :=
  lifts q /\ forall a b h, lifts a -> lifts b -> 0 < h < 1 ->
    (forall x, q x = h * a x + (1 - h) * b x) -> a =1 q /\ b =1 q.

(** Algorithm 1 of the first paper lists the vertices of the polytope, and no other vectors. *)
Theorem grosse_alg_1 q : extreme q <-> exists2 e, e \in listed & q =1 vertex e.
Proof.
split=> [[q_lifts q_ext]|[e e_listed qe]].
  have [few|/two_inner [x1 [x2 [x12 in1 in2]]]] := leqP #|inner q| 1.
    exact: lifts_one q_lifts few.
  have [a [b [h [[a_lifts b_lifts] h01 qE a_less _]]]] := halves q_lifts x12 in1 in2.
  have [aq _] := q_ext a b h a_lifts b_lifts h01 qE.
  suff same : inner a = inner q by rewrite same ltnn in a_less.
  by apply/setP => x; rewrite !inE aq.
have v_lifts := vertex_lifts e_listed.
have q_lifts : lifts q.
  have [v_in v_mean] := v_lifts; split=> [x|]; first by rewrite qe.
  by rewrite -[RHS]v_mean; apply: eq_bigr => x _; rewrite qe.
split=> // a b h [a_in a_mean] [b_in b_mean] h01 qE.
have off x : x != e.2 -> a x = q x /\ b x = q x.
  move=> /negPf xj; have := qE x; rewrite qe /vertex xj.
  have /andP [a0 ac] := a_in x; have /andP [b0 bc] := b_in x.
  case: ifP => _ mix; last exact: both_zero h01 a0 b0 (esym mix).
  have [||||/eqP aE /eqP bE] := @both_zero (c - a x) (c - b x) h; rewrite ?subr_ge0 //.
    by transitivity (c - (h * a x + (1 - h) * b x)); [ring | rewrite -mix subrr].
  by move: aE bE; rewrite !subr_eq0 => /eqP <- /eqP <-.
have at_j (r : X -> R) : \sum_x p x * r x = 1 -> (forall x, x != e.2 -> r x = q x) -> r =1 q.
  move=> r_mean r_off x; have [->|/r_off //] := eqVneq x e.2.
  have [_ q_mean] := q_lifts.
  have : \sum_x p x * r x = \sum_x p x * q x by rewrite r_mean.
  rewrite (bigD1 e.2) //= [in RHS](bigD1 e.2) //=.
  rewrite [X in _ + X = _](eq_bigr (fun x => p x * q x)) => [|y /r_off -> //].
  by move/addIr/mulfI => -> //; rewrite lt0r_neq0.
by split; apply: at_j => // x /off [].
Qed.

Variable mu : (X -> R) -> R.
Hypothesis mu_sub : sublinear mu.

(** The weights that the linear programme of Theorem 5 allows.  Their sum is one because
    every vertex has the mean one. *)
Definition weights (w : pattern -> R) : Prop :=
  [/\ forall e, 0 <= w e, forall e, e \notin listed -> w e = 0
    & forall x, \sum_e w e * vertex e x = 1].

Definition objective (w : pattern -> R) : R := \sum_e w e * mu (vertex e).

Definition designed (w : pattern -> R) (e : pattern) (x : X) : R := w e * vertex e x.

Lemma vertex_ge0 e x : e \in listed -> 0 <= vertex e x.
Proof. by move/vertex_lifts => [v_in _]; have /andP [] := v_in x. Qed.

Lemma designed_mechanism w : weights w ->
  [/\ mechanism (designed w), keeps p c (designed w) & utility mu (designed w) = objective w].
Proof.
move=> [w_ge0 w_out w_one]; split.
- split=> // e x; rewrite /designed.
  have [e_listed|/w_out ->] := boolP (e \in listed); last by rewrite mul0r.
  by rewrite mulr_ge0 ?vertex_ge0.
- move=> e x; rewrite /mean /designed.
  have [e_listed|/w_out ->] := boolP (e \in listed); last first.
    by rewrite big1 ?mulr0 ?mul0r // => z _; rewrite mul0r mulr0.
  have [v_in v_mean] := vertex_lifts e_listed.
  under eq_bigr => z _ do rewrite mulrCA.
  rewrite -mulr_sumr v_mean mulr1 mulrC; apply: ler_wpmul2r => //.
  by have /andP [] := v_in x.
apply: eq_bigr => e _; have [e_listed|/w_out w0] := boolP (e \in listed).
  by rewrite (scaled mu_sub) // => x; exact: vertex_ge0.
rewrite w0 mul0r (respects mu_sub (w := fun x => 0 * 0)).
  by rewrite (scaled mu_sub) // mul0r.
by move=> x; rewrite /designed w0 !mul0r.
Qed.

Lemma weights_sum w : \sum_x p x = 1 -> weights w -> \sum_e w e = 1.
Proof.
move=> p_sum [w_ge0 w_out w_one].
rewrite -p_sum -[RHS](eq_bigr _ (fun x _ => mulr1 (p x))).
under [RHS]eq_bigr => x _ do rewrite -(w_one x) mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => e _.
have [/vertex_lifts [_ v_mean]|/w_out ->] := boolP (e \in listed).
  by under eq_bigr => x _ do rewrite mulrCA; rewrite -mulr_sumr v_mean mulr1.
by rewrite big1 // => x _; rewrite mul0r mulr0.
Qed.

Lemma column_mixture (q : X -> R) :
  (forall x, 0 <= q x) -> (forall x, q x <= c * \sum_z p z * q z) ->
  exists w : pattern -> R,
  [/\ forall e, 0 <= w e, forall e, e \notin listed -> w e = 0,
      forall x, \sum_e w e * vertex e x = q x & mu q <= objective w].
Proof.
move=> q_ge0 q_keeps; set m := \sum_z p z * q z in q_keeps.
have m_ge0 : 0 <= m by apply: sumr_ge0 => x _; apply: mulr_ge0 => //; apply: ltW.
have [w [w_ge0 w_out qE]] : exists w : pattern -> R, [/\ forall e, 0 <= w e,
    forall e, e \notin listed -> w e = 0 & forall x, \sum_e w e * vertex e x = q x].
  have [m0|m_neq0] := eqVneq m 0.
    exists (fun=> 0); split=> // x; rewrite big1 => [|e _]; last by rewrite mul0r.
    by apply/eqP; rewrite eq_le q_ge0 -[X in q x <= X](mulr0 c) -m0 q_keeps.
  have m_gt0 : 0 < m by rewrite lt_neqAle eq_sym m_neq0.
  have [|w [w_ge0 w_out _ wE]] := @mixture (fun x => q x / m).
    split=> [x|]; first by rewrite divr_ge0 //= ler_pdivr_mulr.
    by under eq_bigr => x _ do rewrite mulrA; rewrite -mulr_suml divff.
  exists (fun e => m * w e); split=> [e|e out|x]; first exact: mulr_ge0.
    by rewrite w_out ?mulr0.
  under eq_bigr => e _ do rewrite -mulrA.
  by rewrite -mulr_sumr wE mulrC divfK.
exists w; split=> //.
pose v e x := if e \in listed then vertex e x else 0.
have vE e x : w e * v e x = w e * vertex e x.
  by rewrite /v; case: ifP => // /negbT /w_out ->; rewrite !mul0r.
rewrite (respects mu_sub (w := fun x => \sum_e w e * v e x)); last first.
  by move=> x; rewrite -qE; apply: eq_bigr.
apply: le_trans (mixed mu_sub w_ge0 _) _ => [e x|].
  by rewrite /v; case: ifP => // /vertex_ge0.
apply: ler_sum => e _; have [e_listed|/w_out ->] := boolP (e \in listed).
  by rewrite (respects mu_sub (w := vertex e)) // => x; rewrite /v e_listed.
by rewrite !mul0r.
Qed.

(** Each mechanism of the level has weights that are worth no less: each column is [P(y)]
    times a lift vector, and the mixtures of all columns add up to weights. *)
Lemma weights_exist (Y : finType) (P : Y -> X -> R) : mechanism P -> keeps p c P ->
  exists2 w, weights w & utility mu P <= objective w.
Proof.
move=> [P_ge0 P_one] P_keeps.
have /fin_all_exists [W W_mix] y := column_mixture (P_ge0 y) (P_keeps y).
exists (fun e => \sum_y W y e).
  split=> [e|e out|x].
  - by apply: sumr_ge0 => y _; have [] := W_mix y.
  - by apply: big1 => y _; have [_ ->] := W_mix y.
  under eq_bigr => e _ do rewrite mulr_suml.
  rewrite exchange_big /= -[RHS](P_one x); apply: eq_bigr => y _.
  by have [_ _ ->] := W_mix y.
rewrite /objective; under [X in _ <= X]eq_bigr => e _ do rewrite mulr_suml.
rewrite exchange_big /=; apply: ler_sum => y _.
by have [] := W_mix y.
Qed.

(** Theorem 5 of the first paper: the linear programme over the listed vertices finds an
    optimal mechanism.  The programme has an optimum.  Weights that it allows make a mechanism
    of the level, whose utility is the objective; optimal weights make one that no mechanism
    of the level exceeds, with outcomes as many as you like.  By Theorem 1 there is one with
    at most as many outcomes as secrets.  [mu] need not be symmetric. *)
Theorem grosse_thm_5 : \sum_x p x = 1 -> 1 <= c ->
  let optimal Q := forall (Y : finType) (P : Y -> X -> R), mechanism P -> keeps p c P ->
    utility mu P <= utility mu Q in
  [/\ exists2 w, weights w & forall v, weights v -> objective v <= objective w,
      forall w, weights w ->
      [/\ mechanism (designed w), keeps p c (designed w), utility mu (designed w) = objective w
        & (forall v, weights v -> objective v <= objective w) -> optimal (designed w)]
    & exists Q : pattern -> X -> R, [/\ mechanism Q, keeps p c Q, optimal Q
        & (#|[set e | [exists x, (Q e x != 0)%R]]| <= #|X|)%N]].
Proof.
move=> p_sum c_ge1 optimal.
have made w : weights w ->
    [/\ mechanism (designed w), keeps p c (designed w), utility mu (designed w) = objective w
      & (forall v, weights v -> objective v <= objective w) -> optimal (designed w)].
  move=> w_weights.
  have [w_mech w_keeps w_utility] := designed_mechanism w_weights.
  split=> // best Y P P_mech P_keeps; have [v v_weights less] := weights_exist P_mech P_keeps.
  by rewrite w_utility; apply: le_trans less (best v v_weights).
suff solved : exists2 w, weights w & forall v, weights v -> objective v <= objective w.
  split=> //; have [w w_weights best] := solved.
  have [w_mech w_keeps _ /(_ best) w_best] := made w w_weights.
  have [Q [Q_mech Q_keeps more few _]] := mechanisms.grosse_thm_1 p_gt0 p_sum mu_sub w_mech w_keeps.
  exists Q; split=> // Y P P_mech P_keeps; exact: le_trans (w_best Y P P_mech P_keeps) more.
apply: (@programme_has_optimum _ _ _ p vertex (fun e => mu (vertex e)) listed).
  by move=> e /vertex_lifts [].
have silent_keeps : keeps p c (fun (_ : unit) (_ : X) => 1).
  move=> _ x; rewrite /mean; under eq_bigr => z _ do rewrite mulr1.
  by rewrite p_sum mulr1.
have silent : mechanism (fun (_ : unit) (_ : X) => 1 : R).
  by split=> [_ _|x]; [exact: ler01 | rewrite sumr_const card_unit].
have [w w_weights _] := weights_exist silent silent_keeps.
by exists w.
Qed.

End Vertices.

Section Count.

Variable R : realFieldType.
Variable X : finType.
Variable p : X -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Variable c : R.
Hypothesis c_gt0 : 0 < c.

(** Sets with a chosen element, larger than [#|X| - k], are counted by their sizes. *)
Lemma pointed_sets k : (k <= #|X|)%N ->
  (\sum_(J : {set X} | #|X| - k < #|J|) #|J|
    = \sum_(1 <= l < k.+1) (#|X| - l + 1) * 'C(#|X|, l.-1))%N.
Proof.
elim: k => [_|k IH k_lt].
  rewrite big_geq // big_pred0 // => J; rewrite subn0 ltnNge max_card //.
rewrite big_nat_recr //= -IH ?(ltnW k_lt) //.
rewrite (bigID (fun J : {set X} => #|X| - k < #|J|)%N) /=; congr addn.
  apply: eq_bigl => J; rewrite subnS; case: (ltnP (#|X| - k) #|J|) => [big|_]; rewrite ?andbF //.
  by rewrite andbT (leq_ltn_trans (leq_pred _) big).
rewrite (eq_bigl (fun J => J \in [set A : {set X} | #|A| == (#|X| - k)%N])) => [|J]; last first.
  by rewrite inE -leqNgt subnS eqn_leq prednK ?subn_gt0 // andbC.
rewrite (eq_bigr (fun=> (#|X| - k)%N)) => [|J]; last by rewrite inE => /eqP.
rewrite sum_nat_const card_draws bin_sub ?(ltnW k_lt) // mulnC.
by rewrite subnS addn1 prednK ?subn_gt0.
Qed.

(** Remark 2 of the first paper bounds the number of vertices in region [k], where no
    [#|X| - k] secrets, or fewer, have a mass of [1 / c]: a pattern has more secrets, and
    is a set of them with a chosen element. *)
Theorem grosse_rem_2 (k : nat) : (k <= #|X|)%N ->
  (forall U : {set X}, (#|U| <= #|X| - k)%N -> \sum_(x in U) p x < c^-1) ->
  (#|listed p c| <= \sum_(1 <= l < k.+1) (#|X| - l + 1) * 'C(#|X|, l.-1))%N.
Proof.
move=> k_le region; rewrite -pointed_sets //.
pose pointed (e : pattern X) : pattern X := (e.2 |: e.1, e.2).
pose sets := [set f : pattern X | (#|X| - k < #|f.1|)%N && (f.2 \in f.1)].
have large e : e \in listed p c -> pointed e \in sets.
  rewrite !inE eqxx andbT /= => /andP [out /andP [_]].
  rewrite /rest ler_pdivr_mulr // ltnNge => rest_le; apply/negP => /region.
  apply/negP; rewrite -leNgt -[c^-1]mul1r ler_pdivr_mulr // mulrC big_setU1 //= mulrDr.
  by rewrite -ler_subl_addr.
have inj : {in listed p c &, injective pointed}.
  move=> [S i] [T j]; rewrite !inE /= => /andP [iS _] /andP [jT _] [same ij].
  by rewrite -(setU1K iS) -(setU1K jT) same ij.
rewrite -(card_in_imset inj); apply: (@leq_trans #|sets|).
  by apply: subset_leq_card; apply/subsetP => _ /imsetP [e /large e_in ->].
rewrite -sum1_card (eq_bigl (fun f : pattern X => (#|X| - k < #|f.1|)%N && (f.2 \in f.1))).
  rewrite -(pair_big_dep (fun J : {set X} => #|X| - k < #|J|)%N (fun J j => j \in J) (fun _ _ => 1%N)) /=.
  by under eq_bigr => J _ do rewrite sum1_card.
by move=> f; rewrite inE.
Qed.

End Count.
