(** The design problem, and its optimum for two secrets.

    A mechanism has a column [P y x = P(y | x)] for each outcome.  It keeps the level
    [ln c] when each column does, [P y x <= c * P(y)], which is (5a) of the first paper.
    Its utility is the sum of a sub-linear function of its columns: Definition 4 there. *)
From pmlbook Require Import base leakage.

Section Problem.

Variable R : realFieldType.
Variable X : finType.

Definition mechanism (Y : finType) (P : Y -> X -> R) : Prop :=
  (forall y x, 0 <= P y x) /\ (forall x, \sum_y P y x = 1).

Definition keeps (p : X -> R) (c : R) (Y : finType) (P : Y -> X -> R) : Prop :=
  forall y, within p c (P y).

(** Sub-linear on columns without negative entries.  [respects] says that the value depends
    on the entries only. *)
Record sublinear (mu : (X -> R) -> R) : Prop := Sublinear {
  respects : forall v w, v =1 w -> mu v = mu w;
  scaled : forall a v, 0 <= a -> (forall x, 0 <= v x) -> mu (fun x => a * v x) = a * mu v;
  added : forall v w, (forall x, 0 <= v x) -> (forall x, 0 <= w x) ->
    mu (fun x => v x + w x) <= mu v + mu w }.

Definition utility (mu : (X -> R) -> R) (Y : finType) (P : Y -> X -> R) : R := \sum_y mu (P y).

Lemma others (x : X) (a : R) : \sum_(z | z != x) a = (#|X|%:R - 1) * a.
Proof.
transitivity (\sum_(z : X) a - a); first by rewrite [in RHS](bigD1 x) //= addrC addKr.
by rewrite sumr_const mulrBl mul1r mulr_natl.
Qed.

Variable mu : (X -> R) -> R.
Hypothesis mu_sub : sublinear mu.

(** Sub-linear functions are convex: a mixture has no more than the mixed values. *)
Lemma mixed (E : finType) (w : E -> R) (v : E -> X -> R) :
  (forall e, 0 <= w e) -> (forall e x, 0 <= v e x) ->
  mu (fun x => \sum_e w e * v e x) <= \sum_e w e * mu (v e).
Proof.
move=> w_ge0 v_ge0; elim: (index_enum E) => [|e r IH].
  rewrite big_nil (respects mu_sub (w := fun x => 0 * 0)).
    by rewrite (scaled mu_sub) // mul0r.
  by move=> x; rewrite big_nil mul0r.
rewrite big_cons.
rewrite (respects mu_sub (w := fun x => w e * v e x + \sum_(i <- r) w i * v i x)); last first.
  by move=> x; rewrite big_cons.
apply: le_trans (added mu_sub _ _) _ => [x|x|].
- exact: mulr_ge0.
- by apply: sumr_ge0 => i _; apply: mulr_ge0.
by rewrite (scaled mu_sub) // ler_add2l.
Qed.

(** Remark 1 of the first paper: other names for the outcomes change neither the utility
    nor the level. *)
Theorem grosse_rem_1 (p : X -> R) (c : R) (Y : finType) (P : Y -> X -> R) (name : Y -> Y) :
  bijective name ->
  utility mu (fun y => P (name y)) = utility mu P /\
  (keeps p c (fun y => P (name y)) <-> keeps p c P).
Proof.
move=> name_bij; split.
  by rewrite /utility [RHS](reindex name) //; apply: onW_bij.
have [back nameK backK] := name_bij.
by split=> P_keeps y; [rewrite -[y]backK; apply: P_keeps | apply: P_keeps].
Qed.

(** Post-processing: replacing outcome [y] by [z] with the chance [W z y] keeps the level
    and adds no utility. *)
Theorem processing_adds_no_utility (p : X -> R) (c : R) (Y Z : finType)
    (P : Y -> X -> R) (W : Z -> Y -> R) :
  mechanism P -> keeps p c P -> (forall z y, 0 <= W z y) -> (forall y, \sum_z W z y = 1) ->
  let Q z x := \sum_y W z y * P y x in
  [/\ mechanism Q, keeps p c Q & utility mu Q <= utility mu P].
Proof.
move=> [P_ge0 P_one] P_keeps W_ge0 W_one Q; split.
- split=> [z x|x]; first by apply: sumr_ge0 => y _; apply: mulr_ge0.
  rewrite /Q exchange_big /= -[RHS](P_one x); apply: eq_bigr => y _.
  by rewrite -mulr_suml W_one mul1r.
- by move=> z; apply: processing_keeps_level.
apply: (@le_trans _ _ (\sum_z \sum_y W z y * mu (P y))).
  by apply: ler_sum => z _; apply: mixed.
rewrite exchange_big /= le_eqVlt; apply/orP; left; apply/eqP.
by apply: eq_bigr => y _; rewrite -mulr_suml W_one mul1r.
Qed.

End Problem.

Section Binary.

Variable R : realFieldType.

(** Two secrets: [true] is the first of the paper, which is the more likely one. *)
Variable p : bool -> R.
Hypothesis p_gt0 : forall x, 0 < p x.
Hypothesis p_sum : p true + p false = 1.
Hypothesis ordered : p false <= p true.
Variable c : R.
Hypothesis c_ge1 : 1 <= c.
Hypothesis c_max : c * p false <= 1.

(** The two columns of (10). *)
Definition binary (y x : bool) : R :=
  if c * p true < 1 then
    match y, x with
    | true, true => c * p false          | false, true => 1 - c * p false
    | true, false => 1 - c * p true      | false, false => c * p true
    end
  else
    match y, x with
    | true, true => (c - 1) / (c * p true) | false, true => (1 - c * p false) / (c * p true)
    | true, false => 0                     | false, false => 1
    end.

Let c_gt0 : 0 < c. Proof. exact: lt_le_trans c_ge1. Qed.
Let pf : p false = 1 - p true. Proof. by rewrite -p_sum addrC addKr. Qed.

Lemma binary_mechanism : mechanism binary.
Proof.
have [pt_ge0 pf_ge0] : 0 <= p true /\ 0 <= p false by split; apply: ltW.
have cp_gt0 : 0 < c * p true by apply: mulr_gt0.
split=> [y x|x]; last first.
  rewrite big_bool /= /binary; case: ifP => _; case: x; rewrite ?add0r //; try ring.
  by rewrite pf; field; rewrite !lt0r_neq0.
rewrite /binary; case: ifP => [low|_].
  by case: y; case: x; rewrite ?subr_ge0 ?mulr_ge0 // ltW.
by case: y; case: x; rewrite ?divr_ge0 ?subr_ge0 ?ler01 // ltW.
Qed.

Lemma binary_keeps : keeps p c binary.
Proof.
have cp_gt0 : 0 < c * p true by apply: mulr_gt0.
move=> y x; rewrite /mean big_bool /= /binary; case: (ltP (c * p true) 1) => [low|high].
  case: y.
    have -> : p true * (c * p false) + p false * (1 - c * p true) = p false by ring.
    case: x => //.
    rewrite -subr_ge0.
    have -> : c * p false - (1 - c * p true) = c - 1 by rewrite pf; ring.
    by rewrite subr_ge0.
  have -> : p true * (1 - c * p false) + p false * (c * p true) = p true by ring.
  case: x => //; rewrite -subr_ge0.
  have -> : c * p true - (1 - c * p false) = c - 1 by rewrite pf; ring.
  by rewrite subr_ge0.
case: y.
  have -> : c * (p true * ((c - 1) / (c * p true)) + p false * 0) = c - 1.
    by field; rewrite !lt0r_neq0.
  case: x; last by rewrite subr_ge0.
  by rewrite ler_pdivr_mulr // ler_pemulr // subr_ge0.
have -> : c * (p true * ((1 - c * p false) / (c * p true)) + p false * 1) = 1.
  by field; rewrite !lt0r_neq0.
case: x => //; rewrite ler_pdivr_mulr // mul1r -subr_ge0.
have -> : c * p true - (1 - c * p false) = c - 1 by rewrite pf; ring.
by rewrite subr_ge0.
Qed.

(** Theorem 2 of the first paper: for each level up to the largest, (10) is a mechanism of
    the level, and no other has more of a sub-linear utility.

    Each allowed column is a mixture [a * (first) + b * (second)] of the columns of (10):
    the constraint of the second secret says [0 <= a], that of the first [0 <= b].  Over
    all outcomes [a] and [b] sum to one. *)
Theorem grosse_thm_2 (mu : (bool -> R) -> R) : sublinear mu ->
  [/\ mechanism binary, keeps p c binary
    & forall (Y : finType) (P : Y -> bool -> R),
        mechanism P -> keeps p c P -> utility mu P <= utility mu binary].
Proof.
move=> mu_sub; split; [exact: binary_mechanism | exact: binary_keeps |].
move=> Y P [P_ge0 P_one] P_keeps.
have [B_ge0 B_one] := binary_mechanism.
suff [a [b [a_ge0 b_ge0 a_sum b_sum mix]]] : exists a b : Y -> R,
    [/\ forall y, 0 <= a y, forall y, 0 <= b y, \sum_y a y = 1, \sum_y b y = 1
      & forall y, P y =1 fun x => a y * binary true x + b y * binary false x].
  apply: (@le_trans _ _ (\sum_y (a y * mu (binary true) + b y * mu (binary false)))).
    apply: ler_sum => y _; rewrite (respects mu_sub (mix y)).
    rewrite -!(scaled mu_sub) //; apply: (added mu_sub) => x; exact: mulr_ge0.
  by rewrite big_split -!mulr_suml /= a_sum b_sum !mul1r /utility big_bool.
have second y : 0 <= c * p true * P y true - (1 - c * p false) * P y false.
  have -> : c * p true * P y true - (1 - c * p false) * P y false
          = c * (p true * P y true + p false * P y false) - P y false by ring.
  by rewrite subr_ge0; have := P_keeps y false; rewrite /mean big_bool.
have first y : 0 <= c * p false * P y false - (1 - c * p true) * P y true.
  have -> : c * p false * P y false - (1 - c * p true) * P y true
          = c * (p true * P y true + p false * P y false) - P y true by ring.
  by rewrite subr_ge0; have := P_keeps y true; rewrite /mean big_bool.
have [c1|c1] := eqVneq c 1.
  have same y : P y false = P y true.
    apply/eqP; rewrite eq_le -[X in X && _]subr_ge0 -[X in _ && X]subr_ge0.
    rewrite -(pmulr_rge0 _ (p_gt0 true)) -[X in _ && X](pmulr_rge0 _ (p_gt0 false)).
    move: (second y) (first y); rewrite c1 pf => h1 h2; apply/andP; split.
      by suff <- : 1 * p true * P y true - (1 - 1 * (1 - p true)) * P y false
                 = p true * (P y true - P y false) by []; ring.
    by suff <- : 1 * (1 - p true) * P y false - (1 - 1 * p true) * P y true
               = (1 - p true) * (P y false - P y true) by []; ring.
  exists (P^~ true), (P^~ true); split=> // y x.
  have low : p true < 1 by rewrite -p_sum ltr_addl.
  rewrite /binary c1 !mul1r low pf.
  by case: x; rewrite ?same; ring.
have c_gt1 : 0 < c - 1 by rewrite subr_gt0 lt_neqAle eq_sym c1.
have cp_gt0 : 0 < c * p true by apply: mulr_gt0.
pose a y := (c * p true * P y true - (1 - c * p false) * P y false) / (c - 1).
have a_sum : \sum_y a y = 1.
  rewrite -mulr_suml sumrB -!mulr_sumr !P_one pf; field; exact: lt0r_neq0.
have a_ge0 y : 0 <= a y by apply: divr_ge0 => //; apply: ltW.
have [low|high] := ltP (c * p true) 1.
  exists a, (fun y => (c * p false * P y false - (1 - c * p true) * P y true) / (c - 1)).
  split=> // [y||y x].
  - by apply: divr_ge0 => //; apply: ltW.
  - rewrite -mulr_suml sumrB -!mulr_sumr !P_one pf; field; exact: lt0r_neq0.
  by rewrite /binary low /a pf; case: x; field; rewrite lt0r_neq0.
exists a, (P^~ false); split=> // y x.
rewrite /binary ltNge high /= /a pf; case: x; last by rewrite mulr0 mulr1 add0r.
by field; rewrite !lt0r_neq0.
Qed.

End Binary.
