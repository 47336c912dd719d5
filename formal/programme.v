(** Linear programmes in the weights of lift vectors: a step that drops an unknown, and an
    optimum.

    Weights [w] are feasible on the set [S] of unknowns if they are not negative, vanish
    outside [S] and mix the vectors [v e] to one.  Under some prior all vectors have the mean
    one, so the weights cannot grow without bound. *)
From pmlbook Require Import base.

Section Programme.

Variable R : realFieldType.
Variables X E : finType.
Variable p : X -> R.
Variable v : E -> X -> R.
Variable g : E -> R.

Definition feasible (S : {set E}) (w : E -> R) : Prop :=
  [/\ forall e, 0 <= w e, forall e, e \notin S -> w e = 0 & forall x, \sum_e w e * v e x = 1].

Definition worth (w : E -> R) : R := \sum_e w e * g e.

Definition table (S : {set E}) := \matrix_(i < #|S|, j < #|X|) v (enum_val i) (enum_val j).

(** A function on [S] from a row of numbers. *)
Definition spread (S : {set E}) (r : 'rV[R]_#|S|) (e : E) : R :=
  if @idP (e \in S) is ReflectT eS then r 0 (enum_rank_in eS e) else 0.

Lemma spread_in (S : {set E}) (r : 'rV[R]_#|S|) i : spread r (enum_val i) = r 0 i.
Proof.
rewrite /spread; case: {-}_ / idP => [eS|]; last by rewrite enum_valP.
by rewrite enum_valK_in.
Qed.

Lemma spread_out (S : {set E}) (r : 'rV[R]_#|S|) e : e \notin S -> spread r e = 0.
Proof. by rewrite /spread; case: {-}_ / idP => // eS; rewrite eS. Qed.

Lemma spread_sum (S : {set E}) (w : E -> R) x : (forall e, e \notin S -> w e = 0) ->
  \sum_e w e * v e x = ((\row_i w (enum_val i)) *m table S) 0 (enum_rank x).
Proof.
move=> out; rewrite (bigID (mem S)) /= [X in _ + X]big1 ?addr0 => [|e /out ->]; last first.
  by rewrite mul0r.
rewrite big_enum_val mxE; apply: eq_bigr => i _.
by rewrite !mxE enum_rankK.
Qed.

(** Dependent vectors have a direction in which nothing is mixed. *)
Lemma dependence (S : {set E}) : ~~ row_free (table S) ->
  exists d : E -> R, [/\ forall e, e \notin S -> d e = 0, exists e, d e != 0
                       & forall x, \sum_e d e * v e x = 0].
Proof.
rewrite -kermx_eq0 => /rowV0Pn [r /sub_kermxP rA /rV0Pn [i ri]].
exists (spread r); split=> [e|| x]; first exact: spread_out.
  by exists (enum_val i); rewrite spread_in.
rewrite (spread_sum _ (@spread_out S r)).
have -> : \row_i spread r (enum_val i) = r by apply/rowP => k; rewrite mxE spread_in.
by rewrite rA mxE.
Qed.

(** Independent vectors have one solution at most. *)
Lemma unique (S : {set E}) w : row_free (table S) -> feasible S w ->
  w =1 spread (const_mx 1 *m pinvmx (table S)).
Proof.
move=> free [_ out one]; set b := const_mx 1.
have wA : (\row_i w (enum_val i)) *m table S = b.
  by apply/rowP => j; rewrite -[j]enum_valK -spread_sum // one mxE.
have same : \row_i w (enum_val i) = b *m pinvmx (table S).
  apply: (row_free_inj free); rewrite mulmxKpV ?wA //.
  by rewrite -wA submxMl.
move=> e; have [eS|eS] := boolP (e \in S); last by rewrite out // spread_out.
rewrite -[e](enum_rankK_in eS) // spread_in.
by have := congr1 (fun r : 'rV_#|S| => r 0 (enum_rank_in eS e)) same; rewrite mxE.
Qed.

(** The vectors of [L] have the mean one. *)
Variable L : {set E}.
Hypothesis normed : forall e, e \in L -> \sum_x p x * v e x = 1.

(** One step: with dependent vectors an unknown can be dropped at no loss. *)
Lemma shrink (S : {set E}) w : S \subset L -> ~~ row_free (table S) -> feasible S w ->
  exists e w', [/\ e \in S, feasible (S :\ e) w' & worth w <= worth w'].
Proof.
move=> SL /dependence [d0 [d0_out [e0 d0e0] d0_zero]] [w_ge0 w_out w_one].
pose sign : R := if 0 <= worth d0 then 1 else -1.
pose d e := sign * d0 e.
have sign_neq0 : sign != 0 by rewrite /sign; case: ifP; rewrite ?oppr_eq0 oner_eq0.
have d_out e : e \notin S -> d e = 0 by move=> eS; rewrite /d d0_out ?mulr0.
have d_zero x : \sum_e d e * v e x = 0.
  by under eq_bigr => e _ do rewrite -mulrA; rewrite -mulr_sumr d0_zero mulr0.
have d_gain : 0 <= worth d.
  rewrite /worth; under eq_bigr => e _ do rewrite -mulrA.
  rewrite -mulr_sumr -/(worth d0) /sign; case: ifP => [|/negbT]; rewrite ?mul1r //.
  by rewrite -ltNge mulN1r oppr_ge0 => /ltW.
have d_sum : \sum_e d e = 0.
  transitivity (\sum_x p x * \sum_e d e * v e x); last first.
    by rewrite big1 // => x _; rewrite d_zero mulr0.
  under [RHS]eq_bigr => x _ do rewrite mulr_sumr.
  rewrite exchange_big /=; apply: eq_bigr => e _.
  have [eS|/d_out ->] := boolP (e \in S); last by rewrite big1 // => x _; rewrite mul0r mulr0.
  rewrite -[LHS]mulr1 -(normed (subsetP SL e eS)) mulr_sumr; apply: eq_bigr => x _; ring.
have [e1 e1_neg] : exists e, d e < 0.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP d_ge0.
  have d_pos e : 0 <= d e by rewrite leNgt.
  have /eqP := d_sum; rewrite psumr_eq0 // => /allP /(_ e0); rewrite mem_index_enum => /(_ isT).
  by rewrite /d mulf_eq0 (negPf sign_neq0) (negPf d0e0).
case: (@arg_minP _ _ _ e1 (fun e => d e < 0) (fun e => w e / - d e) e1_neg) => e2 e2_neg e2_least.
set t := w e2 / - d e2 in e2_least.
have t_ge0 : 0 <= t by apply: divr_ge0 => //; rewrite oppr_ge0; exact: ltW.
exists e2, (fun e => w e + t * d e); split.
- by apply: contraTT e2_neg => /d_out ->; rewrite ltxx.
- split=> [e|e|x].
  + case: (ltP (d e) 0) => [neg|pos]; last by apply: addr_ge0 => //; exact: mulr_ge0.
    by have := e2_least e neg; rewrite ler_pdivl_mulr ?oppr_gt0 // mulrN -subr_ge0 opprK.
  + rewrite in_setD1 negb_and negbK => /orP [/eqP ->|eS]; last by rewrite w_out ?d_out ?mulr0 ?addr0.
    by rewrite /t; field; rewrite lt_eqF.
  + under eq_bigr => e _ do rewrite mulrDl -mulrA.
    by rewrite big_split -mulr_sumr /= d_zero mulr0 addr0 w_one.
rewrite /worth; under [X in _ <= X]eq_bigr => e _ do rewrite mulrDl -mulrA.
by rewrite big_split -mulr_sumr /= ler_addl; exact: mulr_ge0.
Qed.

Definition best (S : {set E}) (o : option (E -> R)) : Prop :=
  if o is Some w then feasible S w /\ forall u, feasible S u -> worth u <= worth w
  else forall u, ~ feasible S u.

Lemma grown (S : {set E}) e w : feasible (S :\ e) w -> feasible S w.
Proof.
move=> [w_ge0 w_out w_one]; split=> // i iS; apply: w_out.
by rewrite in_setD1 (negPf iS) andbF.
Qed.

Lemma same_worth (w u : E -> R) : w =1 u -> worth w = worth u.
Proof. by move=> wu; apply: eq_bigr => e _; rewrite wu. Qed.

(** Every set has a best choice, or no choice at all: independent vectors leave one to try,
    dependent ones are dropped in turn. *)
Lemma best_exists (S : {set E}) : S \subset L -> exists o, best S o.
Proof.
have [m] := ubnP #|S|; elim: m S => // m IH S; rewrite ltnS => small SL.
have [free|dependent] := boolP (row_free (table S)).
  set w := spread (const_mx 1 *m pinvmx (table S)).
  have [/andP [/forallP w_ge0 /forallP w_one]|bad] :=
    boolP ([forall e, 0 <= w e] && [forall x, \sum_e w e * v e x == 1]).
    exists (Some w); split=> [|u /(unique free) uw]; last by rewrite (same_worth uw).
    by split=> // [e|x]; [apply: spread_out | apply/eqP].
  exists None => u u_feas; have uw := unique free u_feas; have [u_ge0 _ u_one] := u_feas.
  move: bad; rewrite negb_and => /orP [] /forallPn [z /negP []]; first by rewrite /w -uw.
  by apply/eqP; rewrite -[RHS](u_one z); apply: eq_bigr => e _; rewrite /w -uw.
have /fin_all_exists [O O_best] e : exists o, e \in S -> best (S :\ e) o.
  have [eS|_] := boolP (e \in S); last by exists None.
  have [||o o_best] := IH (S :\ e); last by exists o.
    by apply: leq_trans small; rewrite [X in (_ < X)%N](cardsD1 e) eS.
  exact: subset_trans (subsetDl _ _) SL.
pose score e := if O e is Some w then worth w else 0.
case: (pickP (fun e => (e \in S) && isSome (O e))) => [e0 e0_in|none]; last first.
  exists None => u u_feas; have [e [w [eS w_feas _]]] := shrink SL dependent u_feas.
  have := none e; have := O_best e eS; rewrite eS /=.
  by case: (O e) => // w_none _; apply: w_none w_feas.
case: (@arg_maxP _ _ _ e0 (fun e => (e \in S) && isSome (O e)) score e0_in) => e1.
case/andP=> e1S; have := O_best e1 e1S; rewrite /score; case: (O e1) => // w [w_feas _] _ top.
exists (Some w); split; first exact: grown w_feas.
move=> u u_feas; have [e [u' [eS u'_feas less]]] := shrink SL dependent u_feas.
apply: le_trans less _; have := O_best e eS; have := top e; rewrite eS /=.
case: (O e) => [w'|_ /(_ _ u'_feas) //] /(_ isT) w'_le [_ w'_best].
exact: le_trans (w'_best u' u'_feas) w'_le.
Qed.

(** A programme with a solution has an optimal one. *)
Theorem programme_has_optimum : (exists w, feasible L w) ->
  exists2 w, feasible L w & forall u, feasible L u -> worth u <= worth w.
Proof.
move=> [w w_feas]; have [[u [u_feas u_best]|none]] := best_exists (subxx L).
  by exists u.
by case: (none w).
Qed.

End Programme.
