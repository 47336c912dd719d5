(** The uniform prior: optimal mechanisms of every level, and their mutual information. *)
From pmlbook Require Import base leakage designs vertices.

Section Uniform.

Variable R : realFieldType.

(** [n.+1] equally likely secrets, numbered from zero; numbers are added modulo [n.+1]. *)
Variable n : nat.
Let N : R := n.+1%:R.

Definition uniform (x : 'I_n.+1) : R := n.+1%:R^-1.

(** Region [k] of the level [ln c].  The paper counts its regions to [n]; the last, [n.+1],
    belongs to them. *)
Variable c : R.
Variable k : nat.
Hypothesis k_in : (0 < k <= n.+1)%N.

(** How many entries of a column are full. *)
Definition full : nat := n.+1 - k.

Hypothesis region : c * full%:R < n.+1%:R <= c * full.+1%:R.

(** How far the entry [i] of column [j] lies below the diagonal, around the end. *)
Definition below (j i : 'I_n.+1) : nat := (i - j)%R.

(** Column [j] of (11): [full] entries [c / N] below the diagonal, around the end. *)
Definition cyclic (j i : 'I_n.+1) : R :=
  if i == j then 1 - c * full%:R / n.+1%:R
  else if (below j i <= full)%N then c / n.+1%:R else 0.

Let next s : s.+1%:R = s%:R + 1 :> R. Proof. by rewrite -addn1 natrD. Qed.
Let N_gt0 : 0 < N. Proof. exact: ltr0Sn. Qed.
Let N_neq0 : N != 0. Proof. exact: lt0r_neq0. Qed.
Let m_le : (full <= n)%N. Proof. by rewrite -ltnS /full ltn_subrL andbT; case/andP: k_in. Qed.

Let c_gt0 : 0 < c.
Proof.
have [_ le] := andP region; rewrite -(pmulr_lgt0 _ (ltr0Sn R full)).
exact: lt_le_trans le.
Qed.

Lemma uniform_gt0 x : 0 < uniform x. Proof. by rewrite invr_gt0. Qed.

Lemma uniform_sum : \sum_x uniform x = 1.
Proof. by rewrite sumr_const card_ord -[_ *+ _]mulr_natr mulVf. Qed.

(** What a column holds, read from the diagonal on. *)
Definition entry (d : nat) : R :=
  if d == 0%N then 1 - c * full%:R / n.+1%:R else if (d <= full)%N then c / n.+1%:R else 0.

Lemma cyclicE j i : cyclic j i = entry (below j i).
Proof. by rewrite /cyclic /entry -[i == j]subr_eq0 -val_eqE. Qed.

Lemma entries (f : R -> R) : f 0 = 0 ->
  \sum_(d < n.+1) f (entry d) = f (1 - c * full%:R / N) + f (c / N) *+ full.
Proof.
move=> f0; rewrite big_ord_recl; congr (_ + _).
rewrite (eq_bigr (fun d : 'I_n => if (d < full)%N then f (c / N) else 0)) => [|d _]; last first.
  by rewrite /entry /= /bump /= add1n; case: ifP.
by rewrite -big_mkcond /= -(big_ord_widen n (fun=> f (c / N))) // sumr_const card_ord.
Qed.

Lemma column_sum (f : R -> R) j : f 0 = 0 ->
  \sum_i f (cyclic j i) = f (1 - c * full%:R / N) + f (c / N) *+ full.
Proof.
move=> f0; rewrite -entries // (reindex_inj (addIr j)) /=.
by apply: eq_bigr => d _; rewrite cyclicE /below addrK.
Qed.

Lemma row_sum i : \sum_j cyclic j i = 1.
Proof.
rewrite (reindex_inj (h := fun d => i - d)) => [|d e /addrI /oppr_inj //].
rewrite (eq_bigr (fun d : 'I_n.+1 => entry d)) => [|d _]; last by rewrite cyclicE /below opprB addrC subrK.
rewrite (entries (f := id)) // -mulr_natr; field; exact: N_neq0.
Qed.

Lemma entries_one : 1 - c * full%:R / N + c / N *+ full = 1.
Proof. rewrite -mulr_natr; field; exact: N_neq0. Qed.

Lemma mean_cyclic j : \sum_x uniform x * cyclic j x = N^-1.
Proof. by rewrite -mulr_sumr (column_sum (f := id)) // entries_one mulr1. Qed.

Lemma cyclic_mechanism : mechanism cyclic.
Proof.
split=> [j i|]; last exact: row_sum.
have [lt _] := andP region.
rewrite /cyclic; case: ifP => _; last by case: ifP => _ //; apply: divr_ge0; apply: ltW.
by rewrite subr_ge0 ler_pdivr_mulr // mul1r ltW.
Qed.

Lemma cyclic_keeps : keeps uniform c cyclic.
Proof.
move=> j i; rewrite /mean mean_cyclic /cyclic; have [_ le] := andP region.
case: ifP => _; last by case: ifP => _ //; apply: divr_ge0; apply: ltW.
rewrite -subr_ge0; have -> : c / N - (1 - c * full%:R / N) = (c * full.+1%:R - N) / N.
  rewrite (next full); field; exact: N_neq0.
by rewrite divr_ge0 ?subr_ge0 // ltW.
Qed.

(** Vertices of the lift polytope of the uniform prior. *)
Local Notation pat := (pattern (ordinal_finType n.+1)).

Lemma rest_uniform (e : pat) : rest uniform c e = N - c * #|e.1|%:R.
Proof.
rewrite /rest /uniform sumr_const -[_ *+ #|_|]mulr_natr invrK mulrBl mul1r -mulrA.
by rewrite [_^-1 * _]mulrC divfK.
Qed.

Variable mu : ('I_n.+1 -> R) -> R.
Hypothesis mu_sub : sublinear mu.
Hypothesis mu_sym : forall (s : {perm 'I_n.+1}) v, mu (fun x => v (s x)) = mu v.

(** How often the entries of a vertex have a property. *)
Lemma count_entries (e : pat) (a : pred R) : e.2 \notin e.1 ->
  (\sum_x a (vertex uniform c e x)
    = a (rest uniform c e) + a c * #|e.1| + a 0%R * (n - #|e.1|))%N.
Proof.
move=> out; rewrite (bigD1 e.2) //= {1}/vertex eqxx -addnA; congr addn.
rewrite (bigID (mem e.1)) /=; congr addn.
  rewrite (eq_bigl (fun x => x \in e.1)) => [|x]; last first.
    by case: eqP => // -> /=; rewrite (negPf out).
  rewrite (eq_bigr (fun=> a c : nat)) => [|x xS]; first by rewrite sum_nat_const mulnC.
  by rewrite /vertex xS; case: eqP xS out => // -> ->.
rewrite (eq_bigl (fun x => x \in ~: (e.2 |: e.1))) => [|x]; last by rewrite !inE negb_or.
rewrite (eq_bigr (fun=> a 0%R : nat)) => [|x]; last first.
  by rewrite /vertex !inE negb_or => /andP [/negPf -> /negPf ->].
rewrite sum_nat_const mulnC; congr muln.
by rewrite cardsCs setCK card_ord cardsU1 out.
Qed.

(** Vertices of patterns of the same size are permutations of each other. *)
Lemma same_value (e f : pat) : #|e.1| = #|f.1| -> e.2 \notin e.1 -> f.2 \notin f.1 ->
  mu (vertex uniform c e) = mu (vertex uniform c f).
Proof.
move=> ef e_out f_out.
have : perm_eq [tuple vertex uniform c e i | i < n.+1] [tuple vertex uniform c f i | i < n.+1].
  apply/seq.permP => a.
  have counts (F : 'I_n.+1 -> R) : count a [tuple F i | i < n.+1] = (\sum_i a (F i))%N.
    rewrite -sum1_count big_mkcond big_tuple; apply: eq_bigr => i _.
    by rewrite tnth_mktuple; case: (a _).
  by rewrite !counts !count_entries // ef !rest_uniform ef.
case/tuple_permP => s /val_inj same; rewrite -(mu_sym s (vertex uniform c f)).
apply: (respects mu_sub) => x; have := congr1 (fun t => tnth t x) same.
by rewrite !tnth_mktuple.
Qed.

(** Each listed vertex is, up to its name, one with [full] entries [c]. *)
Lemma full_size (e : pat) : e \in listed uniform c ->
  exists f : pat, [/\ #|f.1| = full, f.2 \notin f.1 & vertex uniform c e =1 vertex uniform c f].
Proof.
rewrite inE rest_uniform => /andP [out /andP [ge0 le_c]].
have [lt le] := andP region.
have m_le_s : (full <= #|e.1|)%N.
  rewrite -ltnS -(ltr_nat R) -(ltr_pmul2l c_gt0); apply: lt_le_trans lt _.
  by rewrite (next #|e.1|) mulrDr mulr1 -ler_subl_addl.
have s_le : (#|e.1| <= full.+1)%N.
  rewrite -(ler_nat R) -(ler_pmul2l c_gt0); apply: le_trans le.
  by rewrite -subr_ge0.
move: m_le_s; rewrite leq_eqVlt => /orP [/eqP same|more]; first by exists e.
have {s_le more} s : #|e.1| = full.+1 by apply/eqP; rewrite eqn_leq s_le.
have exact : N = c * full.+1%:R.
  by apply/eqP; rewrite eq_le le -subr_ge0 -s.
have [i iS] : exists i, i \in e.1 by apply/set0Pn; rewrite -card_gt0 s.
exists (e.1 :\ i, i); split=> [||x] /=.
- by move: s; rewrite (cardsD1 i) iS => -[].
- by rewrite setD11.
rewrite /vertex !rest_uniform /= s.
have -> : #|e.1 :\ i| = full by move: s; rewrite (cardsD1 i) iS => -[].
have -> : N - c * full.+1%:R = 0 by rewrite -exact subrr.
have -> : N - c * full%:R = c by rewrite exact (next full); ring.
rewrite !inE; have [->|xi] := eqVneq x i.
  by case: eqP => [ie|_]; [rewrite ie (negPf out) in iS | rewrite iS].
by case: eqP => // -> /=; rewrite (negPf out).
Qed.

(** Theorem 4 of the first paper: (11) is a mechanism of the level, and no other has more of
    a sub-linear utility that does not distinguish the secrets.

    Every column of every mechanism is a mixture of vertices, by Theorem 5; all of these
    have the value of one, and the columns of (11) are such vertices. *)
Theorem grosse_thm_4 :
  [/\ mechanism cyclic, keeps uniform c cyclic
    & forall (Y : finType) (P : Y -> 'I_n.+1 -> R),
        mechanism P -> keeps uniform c P -> utility mu P <= utility mu cyclic].
Proof.
split; [exact: cyclic_mechanism | exact: cyclic_keeps |] => Y P P_mech P_keeps.
have [w w_weights /le_trans] := weights_exist uniform_gt0 c_gt0 mu_sub P_mech P_keeps.
apply; pose shifted j : pat := ([set i | (i != j) && (below j i <= full)%N], j).
have shifted_out j : (shifted j).2 \notin (shifted j).1 by rewrite inE eqxx.
have shifted_size j : #|(shifted j).1| = full.
  rewrite -sum1_card big_mkcond (reindex_inj (addIr j)) big_ord_recl /= inE add0r eqxx /= add0n.
  rewrite (eq_bigr (fun d : 'I_n => if (d < full)%N then 1 else 0)%N) => [|d _].
    by rewrite -big_mkcond /= -(big_ord_widen n (fun=> 1%N)) // sum1_card card_ord.
  by rewrite inE /below addrK -subr_eq0 addrK.
have value j e : e \in listed uniform c ->
    mu (vertex uniform c e) = mu (vertex uniform c (shifted j)).
  case/full_size => f [f_size f_out same]; rewrite (respects mu_sub same).
  by apply: same_value; rewrite ?shifted_size.
have column j : mu (cyclic j) = N^-1 * mu (vertex uniform c (shifted j)).
  rewrite -(scaled mu_sub) ?invr_ge0 ?ltW //; last first.
    move=> x; rewrite /vertex rest_uniform shifted_size /=.
    case: ifP => _; last by case: ifP => _ //; apply: ltW.
    by rewrite subr_ge0; have [lt _] := andP region; apply: ltW.
  apply: (respects mu_sub) => x; rewrite /vertex rest_uniform shifted_size /cyclic inE /=.
  case: eqP => [_|_] /=; last by case: ifP => _; rewrite ?mulr0 // mulrC.
  by rewrite mulrBr mulVf // mulrC.
have sum_one := weights_sum uniform_gt0 c_gt0 uniform_sum w_weights.
have [_ w_out _] := w_weights.
rewrite /objective (eq_bigr (fun e => w e * mu (vertex uniform c (shifted 0)))); last first.
  move=> e _; have [/(value 0) ->//|/w_out ->] := boolP (e \in listed uniform c).
  by rewrite !mul0r.
rewrite -mulr_suml sum_one mul1r /utility.
rewrite (eq_bigr (fun=> N^-1 * mu (vertex uniform c (shifted 0)))) => [|j _]; last first.
  by rewrite column; congr (_ * _); apply: same_value; rewrite ?shifted_size.
by rewrite sumr_const card_ord -mulr_natr mulrAC mulVf // mul1r.
Qed.

(** Corollary 1 of the first paper, with any function [ln] that turns products of positive
    numbers into sums: the mutual information of (11) is [ln N] minus the entropy of a
    column. *)
Theorem grosse_cor_1 (ln : R -> R) :
  (forall a b, 0 < a -> 0 < b -> ln (a * b) = ln a + ln b) ->
  let entropy v := - \sum_(z <- v) z * ln z in
  \sum_j \sum_i uniform i * cyclic j i * ln (cyclic j i / \sum_x uniform x * cyclic j x)
    = ln n.+1%:R - entropy (rcons (nseq full (c / n.+1%:R)) (1 - full%:R * c / n.+1%:R)).
Proof.
move=> ln_mul entropy; have [cyclic_ge0 _] := cyclic_mechanism.
have term j i : uniform i * cyclic j i * ln (cyclic j i / \sum_x uniform x * cyclic j x)
    = N^-1 * (cyclic j i * ln N + cyclic j i * ln (cyclic j i)).
  rewrite mean_cyclic invrK -mulrA -mulrDr; congr (_ * _).
  have [->|pos] := eqVneq (cyclic j i) 0; first by rewrite !mul0r.
  by rewrite [cyclic j i * N]mulrC ln_mul // lt_neqAle eq_sym pos cyclic_ge0.
rewrite (eq_bigr (fun j => N^-1 * (ln N - entropy (rcons (nseq full (c / N)) (1 - full%:R * c / N))))).
  by rewrite sumr_const card_ord -mulr_natr mulrAC mulVf // mul1r.
move=> j _; under eq_bigr => i _ do rewrite term.
rewrite -mulr_sumr big_split /= -mulr_suml (column_sum (f := id)) // entries_one mul1r.
congr (_ * (_ + _)); rewrite (column_sum (f := fun z => z * ln z)) ?mul0r //.
rewrite /entropy opprK -cats1 big_cat big_seq1 addrC /= [full%:R * c]mulrC; congr (_ + _).
by rewrite big_nseq iter_addr_0.
Qed.

End Uniform.
