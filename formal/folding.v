(** The third paper, third class: source sets whose order is not known.

    A permutation [T] folds the distribution [P] if the symbols [T 0], [T 1], ... come in the order
    of falling probability.  The folded distribution has the probabilities in this order. *)
From pmlbook Require Import base minimax designs hamming distortions ordered.

Section Folding.

Variable R : realFieldType.
Variable n : nat.
Variable S : ('I_n.+2 -> R) -> Prop.
Hypothesis S_ge0 : forall P, S P -> forall i, 0 <= P i.
Hypothesis S_sum : forall P, S P -> \sum_i P i = 1.
Implicit Types (P F d : 'I_n.+2 -> R) (T : {perm 'I_n.+2}).

Definition falls P : Prop := forall i j : 'I_n.+2, (i <= j)%N -> P j <= P i.

(** Definition 5 and Definition 6 of the third paper: what folds, and the folded pieces of the
    source set, of which [inside] is the intersection and [union] the union. *)
Definition folds T : Prop := exists2 P, S P & falls (fun i => P (T i)).
Definition piece T F : Prop := exists2 P, S P & falls F /\ F =1 fun i => P (T i).
Definition inside F : Prop := forall T, folds T -> piece T F.
Definition union F : Prop := exists T, piece T F.

Lemma union_ge0 F : union F -> forall i, 0 <= F i.
Proof. by move=> [T [P P_in [_ FE]]] i; rewrite FE; apply: S_ge0 P_in _. Qed.

Lemma union_sum F : union F -> \sum_i F i = 1.
Proof.
move=> [T [P P_in [_ FE]]]; rewrite -(S_sum P_in) [RHS](reindex_inj (@perm_inj _ T)).
by apply: eq_bigr => i _.
Qed.

Lemma union_falls F : union F -> falls F.
Proof. by move=> [T [P _ []]]. Qed.

(** Sorting: every tuple of numbers has a permutation along which it rises. *)
Lemma sorting d : exists T, forall i j : 'I_n.+2, (i <= j)%N -> d (T i) <= d (T j).
Proof.
have : perm_eq (sort <=%R [tuple d i | i < n.+2]) [tuple d i | i < n.+2] by rewrite perm_sort.
case/tuple_permP => T sE; exists T => i j ij.
have at_ (x : 'I_n.+2) : nth 0 (sort <=%R [tuple d i | i < n.+2]) x = d (T x).
  by rewrite sE -tnth_nth !tnth_mktuple.
rewrite -!at_; apply: (sorted_leq_nth le_trans le_refl) => //; first exact: sort_le_sorted.
  by rewrite inE size_sort size_tuple.
by rewrite inE size_sort size_tuple.
Qed.

(** What the text says of the pieces: every distribution has one, and they are Class II. *)
Lemma every_distribution_folds P : S P -> exists2 T, folds T & piece T (fun i => P (T i)).
Proof.
move=> P_in; have [T rises] := sorting (fun i => - P i); exists T; last first.
  by exists P => //; split=> // i j /rises; rewrite ler_opp2.
by exists P => // i j /rises; rewrite ler_opp2.
Qed.

(** Allowed distortions do not change their sum or their rows when symbols change places. *)
Lemma renamed_allowed (U V : ('I_n.+2 -> R) -> Prop) D c d T : allowed U D c d ->
  (forall P, V P -> \sum_i P i * d (T i) <= D) -> allowed V D c (fun i => d (T i)).
Proof.
move=> [d_in fits _ rows] d_D; have same : \sum_i d (T i) = \sum_i d i.
  by rewrite [RHS](reindex_inj (@perm_inj _ T)).
split=> [i|||i]; rewrite ?same //.
by have := rows (T i); rewrite !others_rest same.
Qed.

(** Remark 4 of the third paper: what is possible for the source set is possible for the union of
    its folded pieces, whether or not the pieces have a distribution in common. *)
Theorem kalantari_rem_4 (D c : R) :
  (exists2 Q, valid S D Q & private c Q) -> exists2 Q, valid union D Q & private c Q.
Proof.
move=> /(distortions_decide S_ge0) [c_ge1 [d d_allowed]].
have [d_in _ d_D _] := d_allowed; have [T rises] := sorting d.
apply: (from_allowed c_ge1); apply: (renamed_allowed (T := T) d_allowed) => F F_in.
have [U [P P_in [F_falls FE]]] := F_in; apply: le_trans (d_D P P_in).
apply: le_trans (rearranged union_falls (U * T^-1)%g F_in _ rises) _ => [i|].
  by have /andP [] := d_in (T i).
rewrite [X in _ <= X](reindex_inj (@perm_inj _ U)) /= le_eqVlt; apply/orP; left; apply/eqP.
by apply: eq_bigr => i _; rewrite permM permKV FE.
Qed.

(** The programme (18), as it holds: the distortions are equal along each folding permutation. *)
Definition tied (V : ('I_n.+2 -> R) -> Prop) (D c : R) d : Prop :=
  allowed V D c d /\ forall T, folds T -> forall i, d (T i) = d i.

(** Theorem 3 of the third paper, the bound from above: the union's programme makes mechanisms. *)
Lemma upper (D c : R) d : 1 <= c -> tied union D c d -> exists2 Q, valid S D Q & private c Q.
Proof.
move=> c_ge1 [[d_in fits d_D rows] d_tied]; apply: (from_allowed (d := d) c_ge1); split=> // P P_in.
have [T T_folds P_piece] := every_distribution_folds P_in.
rewrite (reindex_inj (@perm_inj _ T)) /=; under eq_bigr => i _ do rewrite d_tied //.
by apply: d_D; exists T.
Qed.

(** The bound from below, for a group of permutations: every mechanism solves the programme of the
    intersection, once its distortions are averaged. *)
Lemma lower (D c : R) (G : {group {perm 'I_n.+2}}) Q : (forall T, T \in G <-> folds T) ->
  valid S D Q -> private c Q -> exists d, tied inside D c d.
Proof.
move=> GE Q_valid Q_c; pose e i := 1 - Q i i.
have [c_ge1 e_in e_D rows] : [/\ 1 <= c, forall i, 0 <= e i <= 1,
    forall P, S P -> \sum_i P i * e i <= D
  & forall i, n.+1%:R - \sum_(j | j != i) e j <= c * e i] := own_distortions Q_valid Q_c.
pose k : R := #|G|%:R^-1.
have k_gt0 : 0 < k by rewrite invr_gt0 ltr0n cardG_gt0.
have even (a : R) : a = k * \sum_(T in G) a.
  by rewrite sumr_const -[a *+ _]mulr_natl mulrA mulVf ?mul1r // pnatr_eq0 -lt0n cardG_gt0.
pose d i := k * \sum_(T in G) e (T i).
have d_tied T : folds T -> forall i, d (T i) = d i.
  move=> /GE T_in i; congr (k * _); rewrite [RHS](reindex_inj (mulgI T)) /=.
  rewrite [RHS](eq_bigl (mem G)) => [|U]; last by rewrite groupMl.
  by apply: eq_bigr => U _; rewrite permM.
have d_sum : \sum_i d i = \sum_i e i.
  rewrite [RHS]even -mulr_sumr exchange_big /=; congr (k * _); apply: eq_bigr => T _.
  by rewrite [RHS](reindex_inj (@perm_inj _ T)).
have d_in i : 0 <= d i <= 1.
  rewrite mulr_ge0 ?sumr_ge0 ?(ltW k_gt0) //=; last by move=> T _; have /andP [] := e_in (T i).
  rewrite [1]even; apply: ler_wpmul2l; first exact: ltW.
  by apply: ler_sum => T _; have /andP [] := e_in (T i).
have inside_ge0 F : inside F -> forall i, 0 <= F i.
  move=> F_in i; have [T T_in] : exists T, T \in G by exists 1%g; apply: group1.
  by apply: (union_ge0 (F := F)); exists T; apply: F_in; apply/GE.
exists (fun i => scale d * d i); split; last first.
  by move=> T T_folds i; rewrite d_tied.
apply: scaled_allowed => // [F F_in|_ i].
  rewrite [D]even; apply: (@le_trans _ _ (k * \sum_(T in G) \sum_i F i * e (T i))).
    rewrite exchange_big /= mulr_sumr le_eqVlt; apply/orP; left; apply/eqP.
    by apply: eq_bigr => i _; rewrite -mulr_sumr mulrCA.
  apply: ler_wpmul2l; first exact: ltW.
  apply: ler_sum => T /GE /F_in [P P_in [_ FE]]; apply: le_trans (e_D P P_in).
  rewrite [X in _ <= X](reindex_inj (@perm_inj _ T)) /= le_eqVlt; apply/orP; left; apply/eqP.
  by apply: eq_bigr => j _; rewrite FE.
rewrite others_rest d_sum; pose s := n.+1%:R - \sum_j e j.
have -> : n.+1%:R - \sum_j e j + d i = k * \sum_(T in G) (s + e (T i)).
  by rewrite [in RHS]big_split /= mulrDr -even.
have -> : c * d i = k * \sum_(T in G) c * e (T i) by rewrite -mulr_sumr mulrCA.
apply: ler_wpmul2l; first exact: ltW.
by apply: ler_sum => T _; have := rows (T i); rewrite others_rest.
Qed.

(** Theorem 3 of the third paper, (16), as it holds: a solution of the programme (18) of the union
    makes a mechanism; if the folding permutations are a group, a mechanism makes a solution of
    the programme of the intersection.  For both sets the level of the symmetric mechanism is
    possible, and below [D^(1)] no other is, which are the first and the last case of (17). *)
Theorem kalantari_thm_3 (D c : R) : 1 <= c ->
  [/\ (exists d, tied union D c d) -> exists2 Q, valid S D Q & private c Q,
      forall G : {group {perm 'I_n.+2}}, (forall T, T \in G <-> folds T) ->
        (exists2 Q, valid S D Q & private c Q) -> exists d, tied inside D c d
    & forall V : ('I_n.+2 -> R) -> Prop, (forall F, V F -> union F) -> 0 < D <= 1 ->
        (n.+1%:R * (1 - D) <= c * D -> exists d, tied V D c d) /\
        (forall F, V F -> D < n.+1%:R * F ord_max ->
           (exists d, tied V D c d) -> n.+1%:R * (1 - D) <= c * D)].
Proof.
move=> c_ge1; split=> [[d]|G GE [Q Q_valid Q_c]|V V_union /andP [D0 D1]].
- exact: upper.
- exact: lower Q_valid Q_c.
have [V_ge0 V_sum] := (fun F F_in => union_ge0 (V_union F F_in), fun F F_in => union_sum (V_union F F_in)).
split=> [row|F F_in small [d [d_allowed _]]].
  exists (fun i => scale (fun _ : 'I_n.+2 => D) * D); split=> //.
  apply: scaled_allowed => // [i|F F_in|_ i]; first by rewrite ltW.
    by rewrite -mulr_suml V_sum // mul1r.
  rewrite others_rest sumr_const card_ord -[D *+ _]mulr_natl.
  by have -> : n.+1%:R - n.+2%:R * D + D = n.+1%:R * (1 - D) by rewrite -[n.+2]addn1 natrD; ring.
have [Q Q_valid Q_c] := from_allowed c_ge1 d_allowed.
have [_ _ exact _] := kalantari_thm_2 V_ge0 V_sum (fun F F_in => union_falls (V_union F F_in)) D0.
have [_ low] := exact F F_in small; have := low Q c Q_valid Q_c.
have <- : n.+1%:R * ((1 - D) / D) * D = n.+1%:R * (1 - D) by field; apply: lt0r_neq0.
by rewrite ler_pmul2r.
Qed.

(** Folding is exact: for a polytope, folded with its mixtures, the union of the folded pieces
    has the levels and limits that the source set has, and no others. *)
Theorem folding_exact (k : nat) (v : 'I_k -> 'I_n.+2 -> R) (D c : R) :
  (forall P, S P <-> hull (fun F => exists j, F =1 v j) P) ->
  (exists2 Q, valid S D Q & private c Q) <-> (exists2 Q, valid union D Q & private c Q).
Proof.
move=> polytope; split; first exact: kalantari_rem_4.
move=> [Q Q_valid Q_c]; pose d i := 1 - Q i i.
have [c_ge1 d_in d_D rows] : [/\ 1 <= c, forall i, 0 <= d i <= 1,
    forall F, union F -> \sum_i F i * d i <= D
  & forall i, n.+1%:R - \sum_(j | j != i) d j <= c * d i] := own_distortions Q_valid Q_c.
have v_in j P : P =1 v j -> S P.
  move=> PE; apply/polytope; exists 1%N, (fun=> 1), (fun=> P).
  by split=> [i||_|x]; rewrite ?ler01 ?big_ord1 ?mul1r //; exists j.
pose f (i : 'I_n.+2 + 'I_n.+2 + 'I_n.+2) (x : 'I_n.+2 -> R) : R :=
  match i with
  | inl (inl i) => x i
  | inl (inr i) => - x i
  | inr i => - (\sum_(j | j != i) x j + c * x i)
  end.
pose b (i : 'I_n.+2 + 'I_n.+2 + 'I_n.+2) : R :=
  match i with inl (inl _) => 1 | inl (inr _) => 0 | inr _ => - n.+1%:R end.
have within_f x : (forall i, 0 <= x i <= 1) ->
    (forall i, n.+1%:R - \sum_(j | j != i) x j <= c * x i) -> forall i, f i x <= b i.
  move=> x_in x_rows [[i|i]|i] /=; first by have /andP [] := x_in i.
    by rewrite oppr_le0; have /andP [] := x_in i.
  by rewrite ler_opp2 addrC -ler_subl_addr.
have [[[i|i]|i]|j||w w_ge0 w_one|x x_f x_D] :=
    minimax (f := f) (b := b) (g := fun j x => \sum_i v j i * x i) (D := D).
- exact: linear_at.
- exact/linear_opp/linear_at.
- by apply/linear_opp/linear_add/linear_scale/linear_at; apply: linear_sum => j; apply: linear_at.
- by apply: linear_sum => i; apply/linear_scale/linear_at.
- exists (fun=> 1); apply: within_f => i; first by rewrite ler01 lexx.
  by rewrite sumr_const cardC1 card_ord subrr mulr1 (le_trans ler01).
- pose P i := \sum_j w j * v j i.
  have P_in : S P.
    by apply/polytope; exists k, w, v; split=> // j; exists j.
  have [T T_folds P_piece] := every_distribution_folds P_in.
  exists (fun i => d (T^-1 i)%g).
    have same : \sum_j d (T^-1 j)%g = \sum_j d j by rewrite [RHS](reindex_inj (@perm_inj _ T^-1)).
    by apply: within_f => // i; have := rows (T^-1 i)%g; rewrite !others_rest same.
  apply: le_trans (d_D (fun i => P (T i)) _); last by exists T.
  rewrite [X in _ <= X](reindex_inj (@perm_inj _ T^-1)) /=.
  under [X in X <= _]eq_bigr => j _ do rewrite mulr_sumr.
  rewrite exchange_big /= le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => i _.
  by rewrite permKV mulr_suml; apply: eq_bigr => j _; rewrite mulrA.
have x_in i : 0 <= x i <= 1.
  by have /= -> := x_f (inl (inl i)); have /= := x_f (inl (inr i)); rewrite oppr_le0 => ->.
have x_rows i : n.+1%:R - \sum_(j | j != i) x j <= c * x i.
  by have /= := x_f (inr i); rewrite ler_opp2 addrC -ler_subl_addr.
have corners_D P : (exists j, P =1 v j) -> \sum_i P i * x i <= D.
  by move=> [j PE]; under eq_bigr => i _ do rewrite PE; apply: x_D.
have corners_ge0 P : (exists j, P =1 v j) -> forall i, 0 <= P i.
  by move=> [j PE]; apply: S_ge0; apply: v_in PE.
have x_allowed := scaled_allowed corners_ge0 c_ge1 x_in corners_D (fun=> x_rows).
have [W W_valid W_c] := from_allowed c_ge1 x_allowed.
exists W => //; have [W_mech W_D] := (kalantari_lem_2 _ _ _).1 W_valid; split=> // P /polytope.
exact: W_D.
Qed.

(** Corollary 1 of the third paper, (19), for polytopes: where the folded pieces agree, their
    intersection and their union have the levels of the source set. *)
Theorem kalantari_cor_1 (k : nat) (v : 'I_k -> 'I_n.+2 -> R) (D c : R) :
  (forall P, S P <-> hull (fun F => exists j, F =1 v j) P) -> (forall F, inside F <-> union F) ->
  ((exists2 Q, valid inside D Q & private c Q) <-> (exists2 Q, valid S D Q & private c Q)) /\
  ((exists2 Q, valid S D Q & private c Q) <-> (exists2 Q, valid union D Q & private c Q)).
Proof.
move=> /folding_exact exact_ same; split; last exact: exact_.
split=> [[Q [Q_mech Q_D] Q_c]|/exact_ [Q [Q_mech Q_D] Q_c]]; last first.
  by exists Q => //; split=> // F /same; apply: Q_D.
by apply/exact_; exists Q => //; split=> // F /same; apply: Q_D.
Qed.

End Folding.
