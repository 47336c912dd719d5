(** The third paper, second class: all distributions of the source set order the symbols in
    the same way, the likeliest first. *)
From pmlbook Require Import base designs hamming distortions.

Section Sums.

Variable R : realFieldType.

(** The lightest set: entries up to [t] inside [A], and from [t] on outside. *)
Lemma lightest (T : finType) (F : T -> R) (A U : {set T}) (t : R) :
  0 <= t -> (#|A| <= #|U|)%N -> (forall i, i \in A -> F i <= t) ->
  (forall i, i \notin A -> t <= F i) -> \sum_(i in A) F i <= \sum_(i in U) F i.
Proof.
move=> t_ge0 few low high.
rewrite (big_setID U) /= [X in _ <= X](big_setID A) /= setIC ler_add2l.
apply: (@le_trans _ _ (t *+ #|A :\: U|)).
  by rewrite -sumr_const; apply: ler_sum => i; rewrite inE => /andP [_ /low].
apply: (@le_trans _ _ (t *+ #|U :\: A|)); last first.
  by rewrite -sumr_const; apply: ler_sum => i; rewrite inE => /andP [/high].
by apply: ler_wpmuln2l => //; rewrite !cardsD setIC leq_sub2r.
Qed.

(** Summation by parts, as an inequality. *)
Lemma by_parts (f e : nat -> R) m :
  (forall i, (i < m)%N -> f i.+1 <= f i) -> (forall k, (k <= m)%N -> 0 <= \sum_(i < k) e i) ->
  (f m * \sum_(i < m.+1) e i)%R <= \sum_(i < m.+1) f i * e i.
Proof.
elim: m => [|m IH] fall sums; first by rewrite !big_ord1.
rewrite big_ord_recr [X in _ <= X]big_ord_recr /= mulrDr ler_add2r.
apply: (@le_trans _ _ (f m * \sum_(i < m.+1) e i)).
  by apply: ler_wpmul2r; [apply: sums | apply: fall].
by apply: IH => [i i_lt|k k_le]; [apply: fall; apply: ltnW | apply: sums; apply: leqW].
Qed.

(** Lemma 10 of the third paper: moving weight to the place of the least value lowers the
    sum.  The numbers need not lie between zero and one. *)
Theorem kalantari_lem_10 (m : nat) (a a' b : 'I_m.+1 -> R) :
  \sum_i a i = \sum_i a' i -> (forall i j : 'I_m.+1, (i <= j)%N -> b i <= b j) ->
  a ord0 <= a' ord0 -> (forall i, i != ord0 -> a' i <= a i) ->
  \sum_i a' i * b i <= \sum_i a i * b i.
Proof.
move=> same rising _ less; rewrite -subr_ge0 -sumrB.
have -> : \sum_i (a i * b i - a' i * b i) = \sum_i (a i - a' i) * (b i - b ord0).
  have -> : \sum_i (a i - a' i) * (b i - b ord0)
      = \sum_i (a i * b i - a' i * b i) - (\sum_i a i - \sum_i a' i) * b ord0.
    by rewrite -sumrB mulr_suml -sumrB; apply: eq_bigr => i _; ring.
  by rewrite same subrr mul0r subr0.
apply: sumr_ge0 => i _; have [->|i0] := eqVneq i ord0; first by rewrite subrr mulr0.
by apply: mulr_ge0; rewrite subr_ge0; [apply: less | apply: rising].
Qed.

End Sums.

Section Ordered.

Variable R : realFieldType.

(** [M = n + 2] symbols, numbered from zero, and a source set of the second class. *)
Variable n : nat.
Local Notation X := (ordinal_finType n.+2).
Variable S : ('I_n.+2 -> R) -> Prop.
Hypothesis S_ge0 : forall P, S P -> forall i, 0 <= P i.
Hypothesis S_sum : forall P, S P -> \sum_i P i = 1.
Hypothesis ordered : forall P, S P -> forall i j : 'I_n.+2, (i <= j)%N -> P j <= P i.

(** Rearrangement: rising losses cost least where the likeliest symbols come first. *)
Lemma rearranged (P E : 'I_n.+2 -> R) (t : {perm 'I_n.+2}) : S P -> (forall i, 0 <= E i) ->
  (forall i j : 'I_n.+2, (i <= j)%N -> E i <= E j) ->
  \sum_i P i * E i <= \sum_i P i * E (t i).
Proof.
move=> P_in E_ge0 rising; rewrite -subr_ge0 -sumrB.
pose f i := P (inord i); pose e i := E (t (inord i)) - E (inord i).
rewrite (eq_bigr (fun i : 'I_n.+2 => f i * e i)) => [|i _]; last first.
  by rewrite /f /e inord_val mulrBr.
have zero : \sum_(i < n.+2) e i = 0.
  rewrite /e sumrB; under eq_bigr => i _ do rewrite inord_val.
  under [X in _ - X]eq_bigr => i _ do rewrite inord_val.
  by rewrite [X in _ - X](reindex_inj (@perm_inj _ t)) subrr.
apply: (@le_trans _ _ (f n.+1 * \sum_(i < n.+2) e i)); first by rewrite zero mulr0.
apply: by_parts => [i i_lt|k k_le].
  by apply: (ordered P_in); rewrite !inordK // ltnW.
have k_lt : (k < n.+2)%N by [].
pose first := [set i : 'I_n.+2 | (i < k)%N].
have firsts (F : 'I_n.+2 -> R) : \sum_(i < k) F (inord i) = \sum_(i in first) F i.
  rewrite (big_ord_widen n.+2 (fun i => F (inord i))) ?(ltnW k_lt) //.
  by apply: eq_big => [i|i _]; rewrite ?inE ?inord_val.
rewrite /e sumrB (firsts (fun i => E (t i))) firsts subr_ge0.
rewrite -[X in _ <= X](@big_imset _ _ _ _ _ t) /=; last by move=> i j _ _; apply: perm_inj.
apply: (@lightest _ _ _ _ _ (E (inord k))) => //.
- by rewrite card_imset //; apply: perm_inj.
- by move=> i; rewrite inE => i_lt; apply: rising; rewrite inordK // ltnW.
- by move=> i; rewrite inE -leqNgt => ki; apply: rising; rewrite inordK.
Qed.

(** Lemma 4 of the third paper: renaming the symbols makes the distortions rise, and keeps
    the level and the validity. *)
Theorem kalantari_lem_4 (D c : R) (Q : 'I_n.+2 -> 'I_n.+2 -> R) :
  valid S D Q -> private c Q -> exists s : {perm 'I_n.+2},
    let Q' y x := Q (s y) (s x) in
    [/\ valid S D Q', private c Q'
      & forall i j : 'I_n.+2, (i <= j)%N -> 1 - Q' i i <= 1 - Q' j j].
Proof.
move=> [[Q_ge0 Q_one] Q_D] Q_c.
pose d := [tuple 1 - Q i i | i < n.+2].
have : perm_eq (sort <=%R d) d by rewrite perm_sort.
case/tuple_permP => s sE; exists s => Q'.
have rising (i j : 'I_n.+2) : (i <= j)%N -> 1 - Q' i i <= 1 - Q' j j.
  move=> ij; have at_ (x : 'I_n.+2) : nth 0 (sort <=%R d) x = 1 - Q' x x.
    by rewrite sE -tnth_nth !tnth_mktuple.
  rewrite -!at_; apply: (sorted_leq_nth le_trans le_refl) => //.
  - exact: sort_le_sorted.
  - by rewrite inE size_sort size_tuple.
  - by rewrite inE size_sort size_tuple.
split=> //; last by move=> y x z; apply: Q_c.
split=> [|P P_in].
  split=> [y x|x]; first exact: Q_ge0.
  by rewrite -(Q_one (s x)) [RHS](reindex_inj (@perm_inj _ s)).
have E_ge0 i : 0 <= 1 - Q' i i.
  rewrite subr_ge0 -(Q_one (s i)) (bigD1 (s i)) //= ler_addl.
  by apply: sumr_ge0 => y _; apply: Q_ge0.
apply: le_trans (rearranged (s^-1)%g P_in E_ge0 rising) _.
apply: le_trans (Q_D P P_in); apply: ler_sum => i _.
by rewrite /Q' permKV.
Qed.

Lemma tail_card m : #|[set i : 'I_n.+2 | (m <= i)%N]| = (n.+2 - m)%N.
Proof.
rewrite -sum1dep_card; have -> : (\sum_(i < n.+2 | m <= i) 1 = \sum_(m <= i < n.+2) 1)%N.
  by rewrite big_geq_mkord.
by rewrite sum_nat_const_nat muln1.
Qed.

Definition zero_columns (Q : 'I_n.+2 -> 'I_n.+2 -> R) : {set 'I_n.+2} :=
  [set y | [forall x, Q y x == 0]].

(** Lemma 8 of the third paper, and Theorem 2 (a): with [k] columns of zeros the [k] rarest
    symbols are lost, under every distribution. *)
Theorem kalantari_lem_8 (D : R) (k : nat) (Q : 'I_n.+2 -> 'I_n.+2 -> R) : valid S D Q ->
  (k <= #|zero_columns Q|)%N ->
  forall P, S P -> \sum_(i < n.+2 | (n.+2 - k <= i)%N) P i <= D.
Proof.
move=> [[Q_ge0 Q_one] Q_D] zeros P P_in; set Z := zero_columns Q in zeros.
apply: le_trans (Q_D P P_in); apply: (@le_trans _ _ (\sum_(i in Z) P i)).
  have [->|k_gt0] := posnP k.
    rewrite [X in X <= _]big_pred0 => [|i]; last by rewrite subn0 leqNgt ltn_ord.
    by apply: sumr_ge0 => i _; apply: S_ge0 P_in i.
  have k_lt : (n.+2 - k < n.+2)%N by rewrite ltn_subrL k_gt0.
  rewrite (eq_bigl (fun i : 'I_n.+2 => i \in [set i : 'I_n.+2 | (n.+2 - k <= i)%N])); last first.
    by move=> i; rewrite inE.
  apply: (@lightest _ _ _ _ _ (P (Ordinal k_lt))).
  - exact: S_ge0 P_in _.
  - apply: leq_trans zeros.
    by rewrite tail_card leq_subLR addnC -leq_subLR leqnn.
  - by move=> i; rewrite inE => le_i; apply: (ordered P_in).
  - by move=> i; rewrite inE -ltnNge => i_lt; apply: (ordered P_in); apply: ltnW.
rewrite [X in _ <= X](bigID (mem Z)) /= -[X in X <= _]addr0; apply: ler_add.
  apply: ler_sum => i; rewrite inE => /forallP /(_ i) /eqP ->.
  by rewrite subr0 mulr1.
apply: sumr_ge0 => i _; apply: mulr_ge0; first exact: S_ge0 P_in i.
rewrite subr_ge0 -(Q_one i) (bigD1 i) //= ler_addl.
by apply: sumr_ge0 => y _; apply: Q_ge0.
Qed.

(** Lemma 7 of the third paper: the level can be zero exactly if the distortion allows to
    publish the likeliest symbol always. *)
Theorem kalantari_lem_7 (D : R) :
  (exists2 Q, valid S D Q & private 1 Q) <-> (forall P, S P -> 1 - P ord0 <= D).
Proof.
split=> [[Q [[Q_ge0 Q_one] Q_D] Q_same] P P_in|enough]; last first.
  exists (constant R ord0); last exact: constant_private.
  split; first exact: constant_mechanism.
  by move=> P P_in; rewrite constant_valid ?enough // S_sum.
apply: le_trans (Q_D P P_in).
have -> : \sum_x P x * (1 - Q x x) = 1 - \sum_x P x * Q x x.
  by under eq_bigr => x _ do rewrite mulrBr mulr1; rewrite sumrB S_sum.
rewrite ler_add2l ler_opp2 -[P ord0]mulr1 -(Q_one ord0) mulr_sumr; apply: ler_sum => x _.
apply: ler_pmul => //; first exact: S_ge0 P_in x.
  by apply: (ordered P_in).
by have := Q_same x x ord0; rewrite mul1r.
Qed.

(** The programme (11), without columns of zeros: distortions [d] that rise from the first
    symbol on.  The last condition says that the level [ln c] is at least the objective,
    [ln ((M - 1 - sum of the others) / d 0)]. *)
Definition programme (D c : R) (d : 'I_n.+2 -> R) : Prop :=
  [/\ forall i, 0 <= d i <= 1, forall i j : 'I_n.+2, (i <= j)%N -> d i <= d j,
      \sum_i d i <= n.+1%:R, forall P, S P -> \sum_i P i * d i <= D
    & n.+1%:R - \sum_(i | i != ord0) d i <= c * d ord0].

(** For distortions in order the row of the first symbol decides. *)
Lemma first_row (c : R) (d : 'I_n.+2 -> R) : 1 <= c ->
  (forall i j : 'I_n.+2, (i <= j)%N -> d i <= d j) ->
  n.+1%:R - \sum_(i | i != ord0) d i <= c * d ord0 ->
  forall i, n.+1%:R - \sum_(j | j != i) d j <= c * d i.
Proof.
move=> c_ge1 rising row i; rewrite others_rest -ler_subr_addr.
move: row; rewrite others_rest -ler_subr_addr.
have less j : c * d j - d j = (c - 1) * d j by ring.
by rewrite !less => /le_trans; apply; apply: ler_wpmul2l; rewrite ?subr_ge0 ?rising.
Qed.

Lemma programme_allowed (D c : R) d : 1 <= c ->
  programme D c d <-> allowed S D c d /\ forall i j : 'I_n.+2, (i <= j)%N -> d i <= d j.
Proof.
move=> c_ge1; split=> [[d_in rising fits d_D row]|[[d_in fits d_D rows] rising]]; split=> //.
by split=> //; apply: first_row.
Qed.

Lemma to_programme (D c : R) (Q : 'I_n.+2 -> 'I_n.+2 -> R) :
  valid S D Q -> private c Q -> exists d, programme D c d.
Proof.
move=> Q_valid Q_c; have [s [Q'_valid Q'_c rising]] := kalantari_lem_4 Q_valid Q_c.
have [c_ge1 d_in d_D rows] := own_distortions Q'_valid Q'_c.
eexists; apply/programme_allowed => //; split.
  exact: (scaled_allowed S_ge0 c_ge1 d_in d_D (fun=> rows)).
move=> i j ij /=; apply: ler_wpmul2l; last exact: rising.
by have /andP [] := scale_in (fun i => 1 - Q (s i) (s i)).
Qed.

(** The programme (11) with [l] columns of zeros, for the first [M - l] distortions. *)
Definition censored (l : nat) (D c : R) (d : 'I_n.+2 -> R) : Prop :=
  let m := (n.+2 - l)%N in
  [/\ forall i : 'I_n.+2, (i < m)%N -> 0 <= d i <= 1,
      forall i j : 'I_n.+2, (i <= j)%N -> (j < m)%N -> d i <= d j,
      \sum_(i < n.+2 | (i < m)%N) d i <= m%:R - 1,
      forall P, S P -> \sum_(i < n.+2 | (i < m)%N) P i * d i <= D - \sum_(i < n.+2 | (m <= i)%N) P i
    & m%:R - 1 - \sum_(i < n.+2 | (i < m)%N && (i != ord0)) d i <= c * d ord0].

(** With the distortion one for the others its solutions solve the programme without columns
    of zeros, at the same level. *)
Theorem censoring_adds_nothing (l : nat) (D c : R) (d : 'I_n.+2 -> R) : (l <= n)%N ->
  censored l D c d -> programme D c (fun i => if (i < n.+2 - l)%N then d i else 1).
Proof.
move=> l_le [d_in rising fits d_D row]; set m := (n.+2 - l)%N in d_in rising fits d_D row *.
have m_gt0 : (0 < m)%N by rewrite subn_gt0 ltnS; apply: leq_trans l_le _.
have tail : \sum_(i < n.+2 | (m <= i)%N) (1 : R) = n.+2%:R - m%:R.
  rewrite (eq_bigl (mem [set i : 'I_n.+2 | (m <= i)%N])) => [|i]; last by rewrite !inE.
  by rewrite sumr_const tail_card -natrB ?leq_subr.
have next : n.+2%:R = n.+1%:R + 1 :> R by rewrite -addn1 natrD.
split.
- by move=> i; case: ifP => [/d_in //|_]; rewrite ler01 lexx.
- move=> i j ij; case: (ltnP j m) => jm.
    by rewrite (leq_ltn_trans ij jm); apply: rising.
  by case: ifP => // /d_in /andP [].
- rewrite (bigID (fun i : 'I_n.+2 => i < m)%N) /= (eq_bigr d) => [|i ->] //.
  rewrite [X in _ + X <= _](eq_big (fun i : 'I_n.+2 => m <= i)%N (fun=> 1)) => [|i|i /negPf ->] //.
    rewrite tail -ler_subr_addr; apply: le_trans fits _.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite next; ring.
  by rewrite -leqNgt.
- move=> P P_in; rewrite (bigID (fun i : 'I_n.+2 => i < m)%N) /=.
  rewrite (eq_bigr (fun i => P i * d i)) => [|i ->] //.
  rewrite [X in _ + X <= _](eq_big (fun i : 'I_n.+2 => m <= i)%N P) => [|i|i /negPf ->].
  + by rewrite -ler_subr_addr; apply: d_D.
  + by rewrite -leqNgt.
  by rewrite mulr1.
rewrite m_gt0; apply: le_trans row; rewrite (bigID (fun i : 'I_n.+2 => i < m)%N) /=.
rewrite (eq_big (fun i : 'I_n.+2 => (i < m)%N && (i != ord0)) d) => [|i|i /andP [_ ->]] //.
  rewrite [X in _ - (_ + X)](eq_big (fun i : 'I_n.+2 => m <= i)%N (fun=> 1)).
  - by rewrite tail le_eqVlt; apply/orP; left; apply/eqP; rewrite next; ring.
  - move=> i; rewrite -leqNgt; case: (leqP m i) => [mi|]; rewrite ?andbF // andbT.
    by apply: contraTneq mi => ->; rewrite -ltnNge.
  by move=> i /andP [_ /negPf ->].
by rewrite andbC.
Qed.

(** (48) for distortions in order: it has these distortions, and it keeps exactly the levels
    that the programme's last condition admits. *)
Theorem kalantari_eq_48 (d : 'I_n.+2 -> R) : (forall i, 0 < d i <= 1) ->
  (forall i j : 'I_n.+2, (i <= j)%N -> d i <= d j) -> \sum_i d i <= n.+1%:R ->
  [/\ mechanism (errors d), forall i, 1 - errors d i i = d i
    & forall c, 1 <= c ->
        (private c (errors d) <-> n.+1%:R - \sum_(i | i != ord0) d i <= c * d ord0)].
Proof.
move=> d_in rising fits; have [mech own levels] := errors_level d_in fits; split=> // c c_ge1.
split=> [/(levels c c_ge1) rows|row]; first exact: rows.
by apply/(levels c c_ge1); apply: first_row.
Qed.

(** Lemma 9 of the third paper, (32), as it holds: where something must leak, the least level that
    mechanisms with [k] columns of zeros reach is reached by one with distortions in order, and
    it is [ln] of [M - 1 - k], minus the distortions of the second to the last published symbol,
    divided by that of the first. *)
Theorem kalantari_lem_9 (D c : R) (k : nat) (Q : 'I_n.+2 -> 'I_n.+2 -> R) :
  ~ (forall P, S P -> 1 - P ord0 <= D) -> valid S D Q -> private c Q -> #|zero_columns Q| = k ->
  (forall Q' e, valid S D Q' -> private e Q' -> #|zero_columns Q'| = k -> c <= e) ->
  exists Q', let d i := 1 - Q' i i in
  [/\ valid S D Q' /\ private c Q', #|zero_columns Q'| = k,
      forall i j : 'I_n.+2, (i <= j)%N -> d i <= d j, 0 < d ord0
    & c * d ord0 = n.+1%:R - k%:R - \sum_(i < n.+2 | (0 < i < n.+2 - k)%N) d i].
Proof.
move=> leaks Q_valid Q_c zeros low.
have silent_not T : valid S D T -> private 1 T -> False.
  by move=> T_valid T_1; apply/leaks/kalantari_lem_7; exists T.
have [s [W_valid W_c rising]] := kalantari_lem_4 Q_valid Q_c.
set W := fun _ => _ in W_valid W_c rising; pose d i := 1 - W i i.
have [_ columns] := kalantari_rem_3 ord0 W_valid.1 W_c.
have [c_ge1 d_in d_D rows] := own_distortions W_valid W_c.
have fits : \sum_i d i <= n.+1%:R.
  rewrite leNgt; apply/negP => large.
  have /(from_allowed (lexx 1)) [T T_valid T_1] : allowed S D 1 (fun i => scale d * d i).
    by apply: scaled_allowed => //; rewrite leNgt large.
  exact: (silent_not T).
have d0_gt0 : 0 < d ord0.
  rewrite lt_neqAle; have /andP [-> _] := d_in ord0; rewrite andbT; apply/eqP => d0.
  have /(from_allowed (lexx 1)) [T T_valid T_1] : allowed S D 1 d.
    by split=> //; apply: first_row => //; have := rows ord0; rewrite -/(d ord0) -d0 !mulr0.
  exact: (silent_not T).
have d_gt0 i : 0 < d i <= 1.
  have /andP [_ ->] := d_in i; rewrite andbT; apply: lt_le_trans d0_gt0 _.
  exact: rising.
have [E_mech E_own E_c] := kalantari_eq_48 d_gt0 rising fits.
have zeroE y : (y \in zero_columns W) = (d y == 1).
  rewrite inE /d -subr_eq0 addrAC subrr sub0r oppr_eq0; apply/forallP/idP => [/(_ y) //|/eqP yy].
  by case: (columns y) => [zero x|/(_ y)]; [rewrite zero | rewrite yy ltxx].
have same : zero_columns (errors d) = zero_columns W.
  apply/setP => y; rewrite zeroE inE; apply/forallP/eqP => [/(_ y)|dy x].
    by rewrite /errors eqxx subr_eq0 eq_sym => /eqP.
  by rewrite /errors dy subrr mulr0 mul0r; case: ifP => // /eqP <-; rewrite dy subrr.
have W_zeros : #|zero_columns W| = k.
  rewrite -zeros -[RHS](card_imset _ (@perm_inj _ s^-1)); apply: eq_card => y.
  rewrite -[y in RHS](permK s) mem_imset; last exact: perm_inj.
  rewrite !inE; apply/forallP/forallP => zero x; last by rewrite /W zero.
  by rewrite -(permKV s x); apply: zero.
pose e := (n.+1%:R - \sum_(i | i != ord0) d i) / d ord0.
have eE : e * d ord0 = n.+1%:R - \sum_(i | i != ord0) d i by rewrite divfK // lt0r_neq0.
have c_le : c <= e.
  apply: (low (errors d)); last by rewrite same.
    split=> // P P_in; apply: le_trans (d_D P P_in); rewrite le_eqVlt; apply/orP; left; apply/eqP.
    by apply: eq_bigr => i _; rewrite E_own.
  apply/E_c; last by rewrite eE.
  by rewrite ler_pdivl_mulr // mul1r others_rest ler_addr subr_ge0.
exists W; split=> //; have -> : c * d ord0 = e * d ord0.
  by apply/eqP; rewrite eq_le ler_pmul2r // c_le eE rows.
have first : ord0 \notin zero_columns W.
  rewrite zeroE; apply/eqP => d0; move: fits; rewrite (eq_bigr (fun=> 1)) => [|i _]; last first.
    by apply/eqP; rewrite eq_le -{2}d0 rising // andbT; have /andP [] := d_in i.
  by rewrite sumr_const card_ord ler_nat ltnn.
have last_k : zero_columns W = [set i : 'I_n.+2 | (n.+2 - k <= i)%N].
  apply/eqP; rewrite eqEcard tail_card W_zeros subKn; last first.
    by rewrite -W_zeros; have := max_card (mem (zero_columns W)); rewrite card_ord.
  rewrite leqnn andbT; apply/subsetP => i; rewrite zeroE inE => /eqP di.
  rewrite leq_subLR addnC -leq_subLR -(tail_card i) -W_zeros; apply/subset_leq_card/subsetP => j.
  by rewrite inE zeroE => ij; rewrite eq_le -{2}di rising // andbT; have /andP [] := d_in j.
rewrite eE -addrA -opprD (bigID (mem (zero_columns W))) /=; congr (_ - (_ + _)).
  rewrite (eq_big (mem (zero_columns W)) (fun=> 1)) => [|i|i /andP [_]].
  - by rewrite sumr_const W_zeros.
  - by apply: andb_idl => i_in; apply: contraNneq first => <-.
  by rewrite zeroE => /eqP.
apply: eq_bigl => i; rewrite last_k inE -ltnNge -val_eqE /= lt0n.
by [].
Qed.

(** Theorem 2 of the third paper, for a source set of the second class.  (a) is Lemma 8.
    The level [ln c] is possible exactly if the programme has a solution.  While anything must
    leak, the symmetric mechanism is optimal as long as every symbol of some distribution has
    more than [D / (M - 1)], which includes the paper's [D] below its [D^(1)].  And the level
    zero is possible where Lemma 7 says. *)
Theorem kalantari_thm_2 (D : R) : 0 < D ->
  [/\ forall (k : nat) Q, valid S D Q -> (k <= #|zero_columns Q|)%N ->
        forall P, S P -> \sum_(i < n.+2 | (n.+2 - k <= i)%N) P i <= D,
      forall c, 1 <= c -> ((exists2 Q, valid S D Q & private c Q) <-> exists d, programme D c d),
      forall P, S P -> D < n.+1%:R * P ord_max -> least S D (n.+1%:R * ((1 - D) / D))
    & (forall P, S P -> 1 - P ord0 <= D) -> least S D 1].
Proof.
move=> D0; split.
- by move=> k Q Q_valid zeros; apply: kalantari_lem_8 Q_valid zeros.
- move=> c c_ge1; split=> [[Q Q_valid Q_c]|[d d_in]]; first exact: to_programme Q_c.
  by have [d_allowed _] := (programme_allowed D d c_ge1).1 d_in; apply: from_allowed d_allowed.
- move=> P P_in small.
  have m_gt0 : 0 < n.+1%:R :> R by apply: ltr0Sn.
  have next : n.+2%:R = n.+1%:R + 1 :> R by rewrite -addn1 natrD.
  have M1 : #|X|%:R - 1 = n.+1%:R :> R by rewrite card_ord next addrK.
  pose u i := P i - D / n.+1%:R.
  have u_gt0 i : 0 < u i.
    rewrite subr_gt0 ltr_pdivr_mulr // mulrC; apply: lt_le_trans small _.
    by apply: ler_wpmul2l; [apply: ltW | apply: (ordered P_in); rewrite -ltnS].
  have u_sum : \sum_i u i = 1 - n.+2%:R * (D / n.+1%:R).
    by rewrite sumrB S_sum // sumr_const card_ord mulr_natl.
  have u_sum_gt0 : 0 < \sum_i u i.
    by rewrite (bigD1 ord0) //=; apply: ltr_paddr => //; apply: sumr_ge0 => i _; apply: ltW.
  have MD : n.+2%:R * D < n.+1%:R.
    by move: u_sum_gt0; rewrite u_sum subr_gt0 mulrA ltr_pdivr_mulr // mul1r.
  have D1 : D <= 1.
    rewrite leNgt; apply/negP => D_gt1; move: MD; apply/negP; rewrite -leNgt.
    apply: (@le_trans _ _ n.+2%:R); first by rewrite ler_nat.
    by rewrite ler_pmulr ?ltr0Sn // ltW.
  set c := n.+1%:R * _.
  have cD : c * D = n.+1%:R * (1 - D) by rewrite /c -mulrA divfK // lt0r_neq0.
  have c_ge1 : 1 <= c.
    rewrite -(ler_pmul2r D0) cD mul1r mulrBr mulr1 ler_subr_addr.
    by have -> : D + n.+1%:R * D = n.+2%:R * D; [rewrite next mulrDl mul1r addrC | apply: ltW].
  split.
    have D_in : 0 <= D <= 1 by rewrite ltW.
    have two : (1 < #|X|)%N by rewrite card_ord.
    have [Q_mech Q_D Q_c] := kalantari_eq_7 two S_sum D_in c_ge1.
    exists (symmetric D); first by split=> // T T_in; rewrite Q_D.
    have more : D <= c * D by rewrite ler_pemull // ltW.
    apply/Q_c; rewrite M1 -cD; split=> //; apply: (le_trans more).
    by rewrite ler_pemull // (le_trans _ more) // ltW.
  move=> Q e Q_valid Q_e; pose d i := 1 - Q i i.
  have [e_ge1 d_in Q_D d_rows] := own_distortions Q_valid Q_e.
  have d_ge0 i : 0 <= d i by have /andP [] := d_in i.
  pose s := n.+1%:R - \sum_i d i.
  have rows i : s <= (e - 1) * d i.
    by have := d_rows i; rewrite others_rest -/s mulrBl mul1r ler_subr_addr.
  have cost : \sum_i u i * d i <= D / n.+1%:R * s.
    have -> : \sum_i u i * d i = \sum_i P i * d i - D / n.+1%:R * \sum_i d i.
      by rewrite mulr_sumr -sumrB; apply: eq_bigr => i _; rewrite mulrBl.
    by rewrite /s mulrBr divfK ?lt0r_neq0 // ler_sub // Q_D.
  have ud_ge0 i : 0 <= u i * d i by apply: mulr_ge0 => //; apply: ltW.
  have s_ge0 : 0 <= s.
    rewrite -(pmulr_rge0 (x := D / n.+1%:R)) ?divr_gt0 //.
    by apply: le_trans cost; apply: sumr_ge0.
  have s_gt0 : 0 < s.
    rewrite lt_neqAle s_ge0 andbT; apply/eqP => s0.
    have : \sum_i u i * d i == 0.
      by rewrite eq_le sumr_ge0 // andbT; move: cost; rewrite -s0 mulr0.
    rewrite psumr_eq0 // => /allP zero.
    have d0 i : d i = 0.
      have := zero i; rewrite mem_index_enum => /(_ isT) /=.
      by rewrite mulf_eq0 gt_eqF //= => /eqP.
    move: s0; rewrite /s big1 // subr0 => /eqP; rewrite eq_sym pnatr_eq0 //.
  have key : s * (\sum_i u i) <= (e - 1) * (D / n.+1%:R * s).
    apply: le_trans (ler_wpmul2l _ cost); last by rewrite subr_ge0.
    rewrite !mulr_sumr; apply: ler_sum => i _; rewrite mulrC mulrCA.
    by apply: ler_wpmul2l; [apply: ltW | apply: rows].
  rewrite -(ler_pmul2r D0) cD.
  have {key} key : \sum_i u i <= (e - 1) * (D / n.+1%:R).
    by rewrite -(ler_pmul2l s_gt0) [X in _ <= X]mulrCA [s * (D / _)]mulrC.
  move: key; rewrite u_sum -(ler_pmul2r m_gt0) mulrBl mul1r -!mulrA mulVf ?lt0r_neq0 // mulr1.
  have -> : (n.+1%:R * (1 - D) <= e * D) = (n.+1%:R - n.+2%:R * D <= (e - 1) * D).
    rewrite -subr_ge0 -[RHS]subr_ge0; congr (0 <= _); rewrite next; ring.
  by [].
move=> enough; have [Q Q_valid Q_1] := (kalantari_lem_7 D).2 enough.
split; first by exists Q.
by move=> T e [T_mech _] /(kalantari_rem_3 ord0 T_mech) [].
Qed.

End Ordered.
