(** The third paper: the colours of a mechanism's entries, and what an optimum can do with them.

    A column keeps the level [ln c] if no entry is more than [c] times another.  Where one is
    [c] times another, the larger is black and the smaller red. *)
From pmlbook Require Import base designs hamming.

Section Colours.

Variable R : realFieldType.
Variables X Y : finType.
Variable c : R.
Hypothesis c_gt1 : 1 < c.
Variable Q : Y -> X -> R.

Let c_gt0 : 0 < c. Proof. exact: lt_trans c_gt1. Qed.

(** Definition 7: an entry is black if it is [c] times another of its column, red if another
    is [c] times as large. *)
Definition black (y : Y) (x : X) : Prop := 0 < Q y x /\ exists z, Q y x = c * Q y z.
Definition red (y : Y) (x : X) : Prop := 0 < Q y x /\ exists z, Q y z = c * Q y x.

(** A column of zeros belongs to an outcome that is never published. *)
Definition published (y : Y) : Prop := exists x, Q y x != 0.

Hypothesis Q_mech : mechanism Q.
Hypothesis Q_c : private c Q.

Let Q_ge0 y x : 0 <= Q y x. Proof. by case: Q_mech. Qed.
Let Q_one x : \sum_y Q y x = 1. Proof. by case: Q_mech. Qed.

Lemma publishedP y : published y \/ forall x, Q y x = 0.
Proof.
have [x yx|none] := pickP (fun x => Q y x != 0); first by left; exists x.
by right=> x; apply/eqP/negbFE/none.
Qed.

Lemma published_gt0 y x : published y -> 0 < Q y x.
Proof.
move=> [z]; have [_ /(_ y) [-> |//]] := kalantari_rem_3 x Q_mech Q_c; by rewrite eqxx.
Qed.

(** A critical pair holds the ends of its column. *)
Lemma pair_ends y x z u : Q y x = c * Q y z -> Q y z <= Q y u <= Q y x.
Proof. by move=> xz; rewrite -(ler_pmul2l c_gt0) -xz !Q_c xz !Q_c. Qed.

Lemma pair_differs y x z : 0 < Q y x -> Q y x = c * Q y z -> Q y x != Q y z.
Proof.
move=> pos xz; have z_gt0 : 0 < Q y z by rewrite -(pmulr_rgt0 _ c_gt0) -xz.
by rewrite xz gt_eqF // ltr_pmull.
Qed.

(** What Definition 7 of the third paper says of colours: in a column with a black entry the
    largest are black and no others, in one with a red entry the smallest are red and no
    others, and no entry is both. *)
Theorem kalantari_def_7 :
  [/\ forall y x, black y x -> forall u, black y u <-> forall z, Q y z <= Q y u,
      forall y x, red y x -> forall u, red y u <-> forall z, Q y u <= Q y z
    & forall y x, ~ (black y x /\ red y x)].
Proof.
have equal y a b : Q y a <= Q y b -> Q y b <= Q y a -> Q y b = Q y a.
  by move=> ab ba; apply/eqP; rewrite eq_le ab ba.
split=> y x.
- move=> [pos [z xz]] u; split=> [[_ [v uv]] w|top].
    by have /andP [] := pair_ends w uv.
  have ux : Q y u = Q y x by apply: equal => //; have /andP [] := pair_ends u xz.
  by split; rewrite ux //; exists z.
- move=> [pos [z zx]] u; split=> [[_ [v vu]] w|low].
    by have /andP [] := pair_ends w vu.
  have ux : Q y u = Q y x by apply: equal => //; have /andP [] := pair_ends u zx.
  by split; rewrite ux //; exists z.
move=> [[pos [z xz]] [_ [v vx]]]; have /negP := pair_differs pos xz; apply.
have /andP [_ zx] := pair_ends z xz; have /andP [xz' _] := pair_ends z vx.
by rewrite eq_le xz' zx.
Qed.

(** Two rows of which one is nowhere larger are equal. *)
Lemma rows_equal x z : (forall y, Q y z <= Q y x) -> forall y, Q y z = Q y x.
Proof.
move=> le y; apply/eqP; rewrite eq_sym -subr_eq0.
have gap_ge0 u : true -> 0 <= Q u x - Q u z by rewrite subr_ge0.
have := psumr_eq0P gap_ge0; rewrite sumrB !Q_one subrr => /(_ erefl y isT) ->.
by rewrite eqxx.
Qed.

Lemma some_published x : exists2 y, published y & 0 < Q y x.
Proof.
have [y yx|none] := pickP (fun y => Q y x != 0).
  by exists y; [exists x | rewrite lt_neqAle eq_sym yx Q_ge0].
have /eqP := Q_one x; rewrite big1 => [|y _]; first by rewrite eq_sym oner_eq0.
by apply/eqP/negbFE/none.
Qed.

(** Claim 1 of the third paper: where anything leaks, no row is black in all published columns,
    and none is red in all of them. *)
Theorem kalantari_claim_1 (x : X) :
  ~ (forall y, published y -> black y x) /\ ~ (forall y, published y -> red y x).
Proof.
have [y y_pub pos] := some_published x.
have differ z v : Q y v = c * Q y z -> (forall u, Q u z = Q u v) -> False.
  move=> vz same; have /eqP := pair_differs (published_gt0 v y_pub) vz.
  by rewrite same.
split=> all_rows; have [_ [z xz]] := all_rows y y_pub; apply: (differ _ _ xz);
  apply: rows_equal => u; have [/all_rows [_ [v e]]|zero] := publishedP u; rewrite ?zero //;
  by have /andP [] := pair_ends z e.
Qed.

End Colours.

Section Moves.

Variable R : realFieldType.
Variable X : finType.
Variable c : R.
Hypothesis c_gt1 : 1 < c.
Implicit Types Q : X -> X -> R.

Let c_gt0 : 0 < c. Proof. exact: lt_trans c_gt1. Qed.

(** There is room below finitely many positive numbers. *)
Lemma room (T : finType) (b : T -> R) : (forall t, 0 < b t) -> exists2 e, 0 < e & forall t, e < b t.
Proof.
move=> b_gt0; have [t0 _|none] := pickP T; last first.
  by exists 1; [exact: ltr01 | move=> t; have := none t].
have [t _ low] := @arg_minP _ _ T t0 xpredT b isT; exists (b t / 2%:R).
  by rewrite divr_gt0 // ltr0n.
by move=> u; apply: lt_le_trans (low u isT); rewrite ltr_pdivr_mulr ?ltr0n // ltr_pmulr ?ltr1n.
Qed.

(** The entries of the row [x] in two columns, one made smaller by [e] and one larger. *)
Definition moved Q (x y1 y2 : X) (e : R) (y z : X) : R :=
  if z == x then Q y z + ((y == y2)%:R - (y == y1)%:R) * e else Q y z.

(** The critical pairs: the column, its largest and its smallest entry. *)
Definition pairs Q : {set X * (X * X)} :=
  [set t | (0 < Q t.1 t.2.1) && (Q t.1 t.2.1 == c * Q t.1 t.2.2)].

(** An entry that is not red can lose, and one that is not black can gain, a little of the other's
    weight: no critical pair is new, and those of the two entries are gone. *)
Lemma move Q x y1 y2 : mechanism Q -> private c Q -> published Q y1 -> published Q y2 ->
  y1 != y2 -> ~ red c Q y1 x -> ~ black c Q y2 x ->
  exists e, let Q' := moved Q x y1 y2 e in
  [/\ 0 < e, mechanism Q', private c Q', forall y, published Q' y <-> published Q y
    & pairs Q' \subset [set t in pairs Q |
        ((t.1 == y1) || (t.1 == y2)) ==> (t.2.1 != x) && (t.2.2 != x)]].
Proof.
move=> Q_mech Q_c pub1 pub2 y12 not_red not_black; have [Q_ge0 Q_one] := Q_mech.
have pos1 z := published_gt0 Q_mech Q_c z pub1; have pos2 z := published_gt0 Q_mech Q_c z pub2.
have strict1 z : 0 < Q y1 x - Q y1 z / c.
  rewrite subr_gt0 ltr_pdivr_mulr // mulrC lt_neqAle Q_c andbT.
  by apply/eqP => e; apply: not_red; split=> //; exists z.
have strict2 z : 0 < c * Q y2 z - Q y2 x.
  rewrite subr_gt0 lt_neqAle Q_c andbT.
  by apply/eqP => e; apply: not_black; split=> //; exists z.
have [e e_gt0 e_lt] := room (b := fun t : X * bool =>
  if t.2 then Q y1 x - Q y1 t.1 / c else c * Q y2 t.1 - Q y2 x)
  (fun t => if t.2 as b return (0 < if b then _ else _) then strict1 t.1 else strict2 t.1).
have {e_lt} [low1 low2] : (forall z, Q y1 z < c * (Q y1 x - e)) /\ (forall z, Q y2 x + e < c * Q y2 z).
  split=> z; last by have := e_lt (z, false); rewrite /= ltr_subr_addl.
  have := e_lt (z, true); rewrite /= ltr_subr_addr addrC -ltr_subr_addr.
  by rewrite ltr_pdivr_mulr // mulrC.
have gain1 : moved Q x y1 y2 e y1 x = Q y1 x - e.
  by rewrite /moved !eqxx (negPf y12) sub0r mulN1r.
have gain2 : moved Q x y1 y2 e y2 x = Q y2 x + e.
  by rewrite /moved !eqxx eq_sym (negPf y12) subr0 mul1r.
have same y z : (y \in [:: y1; y2] -> z != x) -> moved Q x y1 y2 e y z = Q y z.
  move=> off; rewrite /moved; have [zx|//] := eqVneq z x.
  have : y \notin [:: y1; y2] by apply/negP => /off; rewrite zx eqxx.
  by rewrite !inE negb_or => /andP [/negPf -> /negPf ->]; rewrite subrr mul0r addr0.
have out z : z != x -> forall y, moved Q x y1 y2 e y z = Q y z by move=> zx y; apply: same.
exists e; set Q' := moved Q x y1 y2 e in gain1 gain2 same out *.
have pos y : published Q y -> forall z, 0 < Q' y z.
  move=> y_pub z; have pos := published_gt0 Q_mech Q_c z y_pub.
  have [zx|zx] := eqVneq z x; last by rewrite out.
  have [y_in|y_out] := boolP (y \in [:: y1; y2]); last by rewrite same // => /idPn.
  move: y_in; rewrite zx !inE => /orP [] /eqP ->; last by rewrite gain2 addr_gt0.
  by rewrite gain1 -(pmulr_rgt0 _ c_gt0); apply: le_lt_trans (low1 x).
have Q'_ge0 y z : 0 <= Q' y z.
  have [/pos /(_ z) /ltW //|zero] := publishedP Q y.
  have y_out : y \notin [:: y1; y2].
    by rewrite !inE; apply/orP => -[] /eqP e_; move: (zero x); rewrite e_ => /eqP; rewrite gt_eqF.
  by rewrite same ?zero // => /idPn.
have strict y u v : y \in [:: y1; y2] -> (u == x) != (v == x) -> Q' y u < c * Q' y v.
  have less z : z - e < z by rewrite ltr_subl_addr ltr_addl.
  have more z : z < z + e by rewrite ltr_addl.
  rewrite !inE => /orP [] /eqP ->; have [->|ux] := eqVneq u x; have [->|vx] := eqVneq v x => // _.
  - by rewrite gain1 out //; apply: lt_le_trans (Q_c y1 x v).
  - by rewrite gain1 out.
  - by rewrite gain2 out.
  rewrite gain2 out //; apply: le_lt_trans (Q_c y2 u x) _.
  by rewrite ltr_pmul2l.
have unmoved y u v : ~~ ((y \in [:: y1; y2]) && ((u == x) || (v == x))) ->
    Q' y u = Q y u /\ Q' y v = Q y v.
  rewrite negb_and negb_or => /orP [/negPf y_out|/andP [ux vx]].
    by rewrite !same // y_out.
  by rewrite !out.
have Q'_c : private c Q'.
  move=> y u v; have [/andP [y_in]|/unmoved [-> ->]] :=
    boolP ((y \in [:: y1; y2]) && ((u == x) || (v == x))); last exact: Q_c.
  have [one _|both] := boolP ((u == x) != (v == x)); first exact: ltW (strict y u v y_in one).
  move: both; rewrite negbK => /eqP uv; rewrite uv orbb => vx.
  by rewrite (eqP (etrans uv vx)) (eqP vx) ler_pemull // ltW.
split=> //.
- split=> // z; have [->|zx] := eqVneq z x; last first.
    by rewrite -(Q_one z); apply: eq_bigr => y _; rewrite out.
  rewrite (eq_bigr (fun y => Q y x + ((y == y2)%:R - (y == y1)%:R) * e)) => [|y _]; last first.
    by rewrite /Q' /moved eqxx.
  have one (u : X) : \sum_y (y == u)%:R = 1 :> R.
    by rewrite (bigD1 u) //= eqxx big1 ?addr0 // => y /negPf ->.
  by rewrite big_split /= Q_one -mulr_suml sumrB !one subrr mul0r addr0.
- move=> y; split=> [[z]|y_pub]; last by exists x; rewrite gt_eqF // pos.
  have [//|zero] := publishedP Q y.
  have y_out : y \notin [:: y1; y2].
    by rewrite !inE; apply/orP => -[] /eqP e_; move: (zero x); rewrite e_ => /eqP; rewrite gt_eqF.
  by rewrite same ?zero ?eqxx // => /idPn.
apply/subsetP => -[y [u v]]; rewrite !inE /= => /andP [u_gt0 /eqP uv].
have [/andP [y_in one]|clear] := boolP ((y \in [:: y1; y2]) && ((u == x) || (v == x))).
  have [differ|both] := boolP ((u == x) != (v == x)).
    by have := strict y u v y_in differ; rewrite uv ltxx.
  move: both; rewrite negbK => /eqP both; rewrite both orbb in one.
  have [ux vx] : u = x /\ v = x by split; apply/eqP; rewrite ?both.
  move: u_gt0 uv; rewrite ux vx => x_gt0 /eqP.
  by rewrite -subr_eq0 -{1}[Q' y x]mul1r -mulrBl mulf_eq0 subr_eq0 lt_eqF //= gt_eqF.
have [uE vE] := unmoved _ _ _ clear; rewrite -uE -vE u_gt0 uv eqxx /=.
by move: clear; rewrite !inE -negb_or implybE negb_and.
Qed.

(** The off-diagonal entries of each row in published columns have one colour. *)
Definition one_colour Q : Prop := forall x y u, published Q y -> published Q u ->
  y != x -> u != x -> (black c Q y x -> black c Q u x) /\ (red c Q y x -> red c Q u x).

Lemma blackP Q y x : reflect (black c Q y x) ((0 < Q y x) && [exists z, Q y x == c * Q y z]).
Proof.
apply: (iffP andP) => -[pos pair]; split=> //; first by have [z /eqP] := existsP pair; exists z.
by have [z xz] := pair; apply/existsP; exists z; apply/eqP.
Qed.

Lemma redP Q y x : reflect (red c Q y x) ((0 < Q y x) && [exists z, Q y z == c * Q y x]).
Proof.
apply: (iffP andP) => -[pos pair]; split=> //; first by have [z /eqP] := existsP pair; exists z.
by have [z xz] := pair; apply/existsP; exists z; apply/eqP.
Qed.

(** Claim 2 of the third paper: every mechanism can be given rows of one colour off the diagonal.
    Its distortions, its level and its columns of zeros stay. *)
Theorem kalantari_claim_2 Q : mechanism Q -> private c Q -> exists Q',
  [/\ mechanism Q', private c Q', forall x, Q' x x = Q x x,
      forall y, published Q' y <-> published Q y & one_colour Q'].
Proof.
have [m] := ubnP #|pairs Q|; elim: m Q => // m IH Q; rewrite ltnS => few Q_mech Q_c.
pose black' y x := (0 < Q y x) && [exists z, Q y x == c * Q y z].
pose red' y x := (0 < Q y x) && [exists z, Q y z == c * Q y x].
pose apart (t : X * (X * X)) := let x := t.1 in let y := t.2.1 in let u := t.2.2 in
  [&& [exists z, Q y z != 0], [exists z, Q u z != 0], y != x, u != x, ~~ red' y x, ~~ black' u x
    & black' y x || red' u x].
have [[x [y u]] /and5P [/existsP pub1 /existsP pub2 yx ux]|none] := pickP apart.
  case/and3P => [/(redP _ _ _) not_red /(blackP _ _ _) not_black coloured].
  have yu : y != u.
    apply: contraTneq coloured => yu; rewrite negb_or; apply/andP; split.
      by rewrite yu; apply/(blackP _ _ _).
    by rewrite -yu; apply/(redP _ _ _).
  have [e [e_gt0 mech priv pub less]] := move Q_mech Q_c pub1 pub2 yu not_red not_black.
  set Q1 := moved Q x y u e in mech priv pub less.
  have [|Q' [mech' priv' own' pub' rows']] := IH Q1 _ mech priv.
    apply: leq_trans few; apply: proper_card; apply/properP; split.
      by apply: subset_trans less _; apply/subsetP => t; rewrite inE => /andP [].
    have gone a b t : (t == y) || (t == u) -> (a == x) || (b == x) -> (t, (a, b)) \notin pairs Q1.
      move=> ty abx; apply/negP => /(subsetP less); rewrite inE /= ty /= => /andP [_].
      by rewrite -negb_or abx.
    case/orP: coloured => /andP [pos /existsP [z /eqP xz]].
      by exists (y, (x, z)); [rewrite inE /= pos xz eqxx | rewrite gone ?eqxx].
    exists (u, (z, x)); last by rewrite gone ?eqxx ?orbT.
    by rewrite inE /= xz mulr_gt0 ?eqxx.
  exists Q'; split=> // z; last by rewrite pub'.
  rewrite own' /Q1 /moved; case: eqP => // ->.
  by rewrite ![x == _]eq_sym (negPf yx) (negPf ux) subrr mul0r addr0.
exists Q; split=> // x y u pub1 pub2 yx ux.
have some1 : [exists z, Q y z != 0] by apply/existsP.
have some2 : [exists z, Q u z != 0] by apply/existsP.
have [_ _ not_both] := kalantari_def_7 c_gt1 Q_c.
split=> coloured.
  have := none (x, (y, u)); rewrite /apart /= some1 some2 yx ux /=.
  have -> : black' y x by apply/(blackP _ _ _).
  have /negPf -> : ~~ red' y x by apply/(redP _ _ _) => r; apply: (not_both y x).
  by rewrite andbT => /negbFE /(blackP _ _ _).
have := none (x, (u, y)); rewrite /apart /= some1 some2 yx ux /=.
have -> : red' y x by apply/(redP _ _ _).
have /negPf -> : ~~ black' y x by apply/(blackP _ _ _) => b; apply: (not_both y x).
by rewrite orbT !andbT => /negbFE /(redP _ _ _).
Qed.

(** A diagonal entry that is not black makes the rest of its row red. *)
Definition red_rows Q : Prop := forall x y, published Q x -> ~ black c Q x x ->
  published Q y -> y != x -> red c Q y x.

(** No mechanism with the level and the columns of zeros of [Q] has a smaller sum of distortions. *)
Definition least_sum (S : (X -> R) -> Prop) (D : R) Q : Prop := forall Q',
  valid S D Q' -> private c Q' -> (forall z, published Q' z <-> published Q z) ->
  \sum_z (1 - Q z z) <= \sum_z (1 - Q' z z).

(** Claim 3 of the third paper, for a mechanism with the least sum of distortions among those
    with its level and its columns of zeros: where a diagonal entry is not black, the rest of its
    row is red.  Claim 2 is not needed. *)
Theorem kalantari_claim_3 (S : (X -> R) -> Prop) (D : R) Q :
  (forall P, S P -> forall z, 0 <= P z) -> valid S D Q -> private c Q -> least_sum S D Q ->
  red_rows Q.
Proof.
move=> S_ge0 [Q_mech Q_D] Q_c best x y x_pub x_not y_pub yx.
apply/(redP _ _ _); apply: contraT => /(redP _ _ _) y_not.
have [e [e_gt0 mech priv pub _]] := move Q_mech Q_c y_pub x_pub yx y_not x_not.
set Q' := moved Q x y x e in mech priv pub.
have own z : Q' z z = Q z z + (z == x)%:R * e.
  rewrite /Q' /moved; case: eqP => [->|_]; last by rewrite mul0r addr0.
  by rewrite [x == y]eq_sym (negPf yx) subr0.
have one : \sum_z (z == x)%:R = 1 :> R.
  by rewrite (bigD1 x) //= eqxx big1 ?addr0 // => z /negPf ->.
have := best Q' _ priv pub; rewrite [X in _ <= X](_ : _ = \sum_z (1 - Q z z) - e); last first.
  rewrite -[e in RHS]mul1r -one mulr_suml -sumrB; apply: eq_bigr => z _.
  by rewrite own opprD addrA.
rewrite leNgt ltr_subl_addr ltr_addl e_gt0; apply; split=> // P P_in.
apply: le_trans (Q_D P P_in); apply: ler_sum => z _; apply: ler_wpmul2l; first exact: S_ge0 P_in z.
by rewrite ler_add2l ler_opp2 own ler_addl mulr_ge0 ?ler0n // ltW.
Qed.

(** Claim 4 of the third paper: with the colours of Claims 2 and 3 no two diagonal entries of
    published columns fail to be black. *)
Theorem kalantari_claim_4 Q i j : mechanism Q -> private c Q -> one_colour Q -> red_rows Q ->
  published Q i -> published Q j -> i != j -> ~ (~ black c Q i i /\ ~ black c Q j j).
Proof.
move=> Q_mech Q_c claim_2 claim_3 i_pub j_pub ij [i_not j_not].
have [_ _ not_both] := kalantari_def_7 c_gt1 Q_c.
have [pos [z iz]] := claim_3 j i j_pub j_not i_pub ij.
have iz_black : black c Q i z by split; [rewrite iz mulr_gt0 | exists j].
have iz_neq : i != z by apply/negP => /eqP e; apply: i_not; rewrite {2}e.
have [no_black _] := kalantari_claim_1 c_gt1 Q_mech Q_c z.
have off y : published Q y -> y != z -> black c Q y z.
  by move=> y_pub yz; apply: (claim_2 _ _ _ i_pub y_pub iz_neq yz).1 iz_black.
have [z_pub|zero] := publishedP Q z; last first.
  apply: no_black => y y_pub; apply: off => //; apply/negP => /eqP yz.
  by have [u] := y_pub; rewrite yz zero eqxx.
suff zz : ~ ~ black c Q z z.
  by apply: zz => zz; apply: no_black => y y_pub; have [->|] := eqVneq y z; [|apply: off].
by move=> z_not; apply: (not_both i z); split=> //; apply: claim_3.
Qed.

(** Claim 5 of the third paper: with these colours a published symbol whose diagonal entry is
    not black has a distortion below that of every published symbol whose entry is. *)
Theorem kalantari_claim_5 Q i j : mechanism Q -> private c Q -> red_rows Q ->
  published Q i -> ~ black c Q i i -> i != j -> black c Q j j -> 1 - Q i i < 1 - Q j j.
Proof.
move=> Q_mech Q_c claim_3 i_pub ii_not ij jj; have [Q_ge0 Q_one] := Q_mech.
have [_ low _] := kalantari_def_7 c_gt1 Q_c.
have smallest y z : y != i -> Q y i <= Q y z.
  move=> yi; have [y_pub|zero] := publishedP Q y; last by rewrite !zero.
  have y_red := claim_3 i y i_pub ii_not y_pub yi; exact: ((low y i y_red i).1 y_red).
have ii_gt0 := published_gt0 Q_mech Q_c i i_pub.
have ji : j != i by rewrite eq_sym.
have jjE : Q j j = c * Q j i.
  apply/eqP; rewrite eq_le Q_c /=; have [_ [z ->]] := jj.
  by rewrite ler_pmul2l // smallest.
have ij_gt : Q i i < c * Q i j.
  rewrite lt_neqAle Q_c andbT; apply/negP => /eqP e; apply: ii_not.
  by split=> //; exists j.
have sums : Q j j + Q i j <= Q i i + Q j i.
  have rest : \sum_(y | (y != i) && (y != j)) Q y i <= \sum_(y | (y != i) && (y != j)) Q y j.
    by apply: ler_sum => y /andP [yi _]; apply: smallest.
  have split_ x : \sum_(y | (y != i) && (y != j)) Q y x = 1 - Q i x - Q j x.
    rewrite -(Q_one x) [in RHS](bigD1 i) //= [in RHS](bigD1 j) //=.
    by ring.
  move: rest; rewrite !split_ -subr_ge0 => h; rewrite -subr_ge0.
  by move: h; congr (0 <= _); ring.
rewrite ltr_add2l ltr_opp2 jjE.
have key : (c - 1) * (c * Q j i) < (c - 1) * Q i i.
  apply: (@le_lt_trans _ _ (c * (Q i i - Q i j))).
    have -> : (c - 1) * (c * Q j i) = c * (c * Q j i - Q j i) by ring.
    rewrite ler_pmul2l //; move: sums; rewrite jjE -subr_ge0 => h; rewrite -subr_ge0.
    by move: h; congr (0 <= _); ring.
  rewrite mulrBr mulrBl mul1r ltr_add2l ltr_opp2; exact: ij_gt.
by rewrite ltr_pmul2l ?subr_gt0 in key.
Qed.

(** Together: a mechanism with the least sum has a twin of the same level, distortions and columns
    of zeros in which at most one published diagonal entry is not black.  The row of that entry is
    red, and its distortion is the smallest. *)
Theorem colours_of_an_optimum (S : (X -> R) -> Prop) (D : R) Q :
  (forall P, S P -> forall z, 0 <= P z) -> valid S D Q -> private c Q -> least_sum S D Q ->
  exists Q', [/\ valid S D Q', private c Q', forall x, Q' x x = Q x x,
    forall y, published Q' y <-> published Q y
    & [/\ one_colour Q', red_rows Q'
        & forall i j, published Q' i -> published Q' j -> i != j -> ~ black c Q' i i ->
            black c Q' j j /\ 1 - Q' i i < 1 - Q' j j]].
Proof.
move=> S_ge0 [Q_mech Q_D] Q_c best.
have [Q' [mech priv own pub rows]] := kalantari_claim_2 Q_mech Q_c.
have Q'_valid : valid S D Q'.
  split=> // P P_in; apply: le_trans (Q_D P P_in); rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by apply: eq_bigr => x _; rewrite own.
have reds : red_rows Q'.
  apply: (kalantari_claim_3 S_ge0 Q'_valid priv) => W W_valid W_c W_pub.
  rewrite (eq_bigr (fun z => 1 - Q z z)) => [|z _]; last by rewrite own.
  by apply: best => // z; rewrite W_pub.
exists Q'; split=> //; split=> // i j i_pub j_pub ij i_not.
have [j_black|j_not] := blackP Q' j j; first by split=> //; apply: kalantari_claim_5.
by case: (kalantari_claim_4 mech priv rows reds i_pub j_pub ij).
Qed.

End Moves.
