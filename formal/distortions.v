(** The third paper: what distortions cost, for every source set.

    A mechanism errs on the symbol [i] with probability [d i = 1 - Q i i].  These numbers alone
    decide which levels are possible. *)
From pmlbook Require Import base designs hamming.

Section Distortions.

Variable R : realFieldType.

(** [M = n + 2] symbols, numbered from zero. *)
Variable n : nat.
Implicit Types (d : 'I_n.+2 -> R) (Q : 'I_n.+2 -> 'I_n.+2 -> R).

Lemma others_sum d i : \sum_(j | j != i) (1 - d j) = n.+1%:R - \sum_(j | j != i) d j.
Proof. by rewrite sumrB sumr_const cardC1 card_ord. Qed.

Lemma others_rest d i : n.+1%:R - \sum_(j | j != i) d j = n.+1%:R - \sum_j d j + d i.
Proof. by rewrite [in RHS](bigD1 i) //= opprD addrA addrAC addrNK. Qed.

(** The symbol [k] is published always. *)
Definition constant (k y x : 'I_n.+2) : R := (y == k)%:R.

Lemma constant_mechanism k : mechanism (constant k).
Proof.
split=> [y x|x]; first exact: ler0n.
by rewrite (bigD1 k) //= /constant eqxx big1 ?addr0 // => y /negPf ->.
Qed.

Lemma constant_private k c : 1 <= c -> private c (constant k).
Proof. by move=> c_ge1 y x z; rewrite ler_pemull // ler0n. Qed.

Lemma constant_valid k (P : 'I_n.+2 -> R) :
  \sum_i P i = 1 -> \sum_i P i * (1 - constant k i i) = 1 - P k.
Proof.
move=> P_one; under eq_bigr => i _ do rewrite mulrBr mulr1.
rewrite sumrB P_one; congr (_ - _); rewrite (bigD1 k) //= /constant eqxx mulr1.
by rewrite big1 ?addr0 // => i /negPf ->; rewrite mulr0.
Qed.

(** The mechanism (48): a wrong answer is drawn in proportion to how often it is right.  A
    symbol with the distortion one is never published. *)
Definition errors d (y x : 'I_n.+2) : R :=
  if y == x then 1 - d x else d x * (1 - d y) / \sum_(j | j != x) (1 - d j).

(** It has these distortions, and it keeps the levels that each row admits and no others. *)
Lemma errors_level d : (forall i, 0 < d i <= 1) -> \sum_i d i <= n.+1%:R ->
  [/\ mechanism (errors d), forall i, 1 - errors d i i = d i
    & forall c, 1 <= c -> (private c (errors d) <->
        forall i, n.+1%:R - \sum_(j | j != i) d j <= c * d i)].
Proof.
move=> d_in fits.
have d_gt0 i : 0 < d i by have /andP [] := d_in i.
have d_le1 i : 0 <= 1 - d i by rewrite subr_ge0; have /andP [] := d_in i.
pose s := n.+1%:R - \sum_i d i; have s_ge0 : 0 <= s by rewrite subr_ge0.
have B i : \sum_(j | j != i) (1 - d j) = s + d i by rewrite others_sum others_rest.
have B_gt0 i : 0 < s + d i by apply: ltr_paddl.
pose f y x : R := if y == x then 1 else d x / (s + d x).
have errorsE y x : errors d y x = (1 - d y) * f y x.
  by rewrite /errors /f B; case: eqP => [->|_]; rewrite ?mulr1 // mulrCA mulrA.
have mech : mechanism (errors d).
  split=> [y x|x].
    rewrite errorsE /f; case: ifP => _; rewrite ?mulr1 // mulr_ge0 // divr_ge0 //; exact: ltW.
  rewrite (bigD1 x) //= {1}/errors eqxx.
  rewrite (eq_bigr (fun y => (1 - d y) * (d x / (s + d x)))) => [|y /negPf yx]; last first.
    by rewrite errorsE /f yx.
  by rewrite -mulr_suml B mulrC divfK ?lt0r_neq0 // subrK.
have own i : 1 - errors d i i = d i by rewrite /errors eqxx subKr.
split=> // c c_ge1; split=> [priv i|rows].
  have := row_bound i mech priv; rewrite own; apply: le_trans.
  rewrite -(others_sum d) le_eqVlt; apply/orP; left; apply/eqP.
  by apply: eq_bigr => y _; rewrite /errors eqxx.
have f_le1 y x : f y x <= 1.
  by rewrite /f; case: ifP => _ //; rewrite ler_pdivr_mulr // mul1r ler_addr.
have f_ge y x : 1 <= c * f y x.
  rewrite /f; case: ifP => _; first by rewrite mulr1.
  by rewrite mulrA ler_pdivl_mulr // mul1r -others_rest.
move=> y x z; rewrite !errorsE mulrCA; apply: ler_wpmul2l => //.
exact: le_trans (f_le1 y x) (f_ge y z).
Qed.

(** A source set; some results need that its distributions are not negative, others that their
    sum is one. *)
Variable S : ('I_n.+2 -> R) -> Prop.
Hypothesis S_ge0 : forall P, S P -> forall i, 0 <= P i.
Hypothesis S_sum : forall P, S P -> \sum_i P i = 1.

(** The distortions that the level [ln c] allows, within the limit [D]. *)
Definition allowed (D c : R) d : Prop :=
  [/\ forall i, 0 <= d i <= 1, \sum_i d i <= n.+1%:R, forall P, S P -> \sum_i P i * d i <= D
    & forall i, n.+1%:R - \sum_(j | j != i) d j <= c * d i].

(** Distortions whose sum exceeds [M - 1] can be smaller. *)
Definition scale d : R := if \sum_i d i <= n.+1%:R then 1 else n.+1%:R / \sum_i d i.

Lemma scale_in d : 0 <= scale d <= 1.
Proof.
rewrite /scale; case: (leP (\sum_i d i)) => [_|large]; first by rewrite ler01 lexx.
have sum_gt0 : 0 < \sum_i d i by apply: lt_trans large; apply: ltr0Sn.
by rewrite divr_ge0 ?ler0n ?(ltW sum_gt0) //= ler_pdivr_mulr // mul1r ltW.
Qed.

Lemma scaled_allowed (D c : R) d : 1 <= c -> (forall i, 0 <= d i <= 1) ->
  (forall P, S P -> \sum_i P i * d i <= D) ->
  (\sum_i d i <= n.+1%:R -> forall i, n.+1%:R - \sum_(j | j != i) d j <= c * d i) ->
  allowed D c (fun i => scale d * d i).
Proof.
move=> c_ge1 d_in d_D rows; have /andP [a0 a1] := scale_in d.
have d_ge0 i : 0 <= d i by have /andP [] := d_in i.
have [fits|large] := leP (\sum_i d i) n.+1%:R.
  have dE i : scale d * d i = d i by rewrite /scale fits mul1r.
  split=> [i||P P_in|i]; rewrite ?dE //; first by under eq_bigr => i _ do rewrite dE.
    by under eq_bigr => i _ do rewrite dE; apply: d_D.
  by under eq_bigr => j _ do rewrite dE; apply: rows.
have sum_gt0 : 0 < \sum_i d i by apply: lt_trans large; apply: ltr0Sn.
have total : \sum_i scale d * d i = n.+1%:R.
  by rewrite -mulr_sumr /scale leNgt large divfK // lt0r_neq0.
split=> [i||P P_in|i].
- by rewrite mulr_ge0 //= mulr_ile1 //; have /andP [] := d_in i.
- by rewrite total.
- apply: le_trans (d_D P P_in); apply: ler_sum => i _; apply: ler_wpmul2l.
    exact: S_ge0 P_in i.
  by rewrite ler_pimull.
by rewrite others_rest total subrr add0r ler_pemull // mulr_ge0.
Qed.

(** The distortions of a mechanism of the level, and mechanisms for allowed distortions. *)
Lemma own_distortions (D c : R) Q : valid S D Q -> private c Q -> let d i := 1 - Q i i in
  [/\ 1 <= c, forall i, 0 <= d i <= 1, forall P, S P -> \sum_i P i * d i <= D
    & forall i, n.+1%:R - \sum_(j | j != i) d j <= c * d i].
Proof.
move=> [Q_mech Q_D] Q_c d; have [Q_ge0 Q_one] := Q_mech; split=> // [|i|i].
- by have [] := kalantari_rem_3 ord0 Q_mech Q_c.
- rewrite /d subr_ge0 ler_subl_addr ler_addl Q_ge0 andbT -(Q_one i) (bigD1 i) //= ler_addl.
  exact: sumr_ge0.
apply: le_trans (row_bound i Q_mech Q_c); rewrite -others_sum le_eqVlt; apply/orP; left.
by apply/eqP; apply: eq_bigr => y _; rewrite /d subKr.
Qed.

Lemma from_allowed (D c : R) d : 1 <= c -> allowed D c d -> exists2 Q, valid S D Q & private c Q.
Proof.
move=> c_ge1 [d_in fits d_D rows].
have d_ge0 i : 0 <= d i by have /andP [] := d_in i.
have d_le1 i : d i <= 1 by have /andP [] := d_in i.
have [k /eqP dk|none] := pickP (fun k => d k == 0).
  have one : forall i, i != k -> d i = 1.
    move=> i ik; have gap_ge0 j : j != k -> 0 <= 1 - d j by rewrite subr_ge0.
    have /(psumr_eq0P gap_ge0) : \sum_(j | j != k) (1 - d j) = 0.
      by apply/eqP; rewrite eq_le sumr_ge0 // andbT others_sum; have := rows k; rewrite dk mulr0.
    by move=> /(_ i ik) /eqP; rewrite subr_eq0 => /eqP.
  exists (constant k); last exact: constant_private.
  split=> [|P P_in]; first exact: constant_mechanism.
  apply: le_trans (d_D P P_in); rewrite le_eqVlt; apply/orP; left; apply/eqP.
  apply: eq_bigr => i _; congr (_ * _); rewrite /constant.
  by have [->|ik] := eqVneq i k; rewrite ?dk ?subrr // subr0 one.
have d_gt0 i : 0 < d i <= 1 by rewrite d_le1 andbT lt_neqAle eq_sym none d_ge0.
have [mech own levels] := errors_level d_gt0 fits.
exists (errors d); last exact/levels.
split=> // P P_in; apply: le_trans (d_D P P_in); rewrite le_eqVlt; apply/orP; left; apply/eqP.
by apply: eq_bigr => i _; rewrite own.
Qed.

(** Every level, for every source set: a mechanism exists exactly if distortions do. *)
Theorem distortions_decide (D c : R) :
  (exists2 Q, valid S D Q & private c Q) <-> 1 <= c /\ exists d, allowed D c d.
Proof.
split=> [[Q Q_valid Q_c]|[c_ge1 [d d_allowed]]]; last exact: from_allowed d_allowed.
have [c_ge1 d_in d_D rows] := own_distortions Q_valid Q_c; split=> //.
by eexists; apply: scaled_allowed c_ge1 d_in d_D (fun=> rows).
Qed.

End Distortions.
