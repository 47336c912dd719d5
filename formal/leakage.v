(** What a level promises, for every number of secrets and outcomes.

    A secret has the prior [p] over a finite type [X], an outcome the column
    [q x = P(y | x)], and [mean q = P(y)].  The column keeps the level [ln c] when
    [q x <= c * mean q] for each secret.  A theorem that a paper numbers has the
    name of its row in nbs/results.csv. *)
From pmlbook Require Import base.

Section Leakage.

Variable R : realFieldType.
Variable X : finType.
Variable p : X -> R.
Hypothesis p_ge0 : forall x, 0 <= p x.
Hypothesis p_sum : \sum_x p x = 1.

Definition mean (q : X -> R) : R := \sum_x p x * q x.

Definition within (c : R) (q : X -> R) : Prop := forall x, q x <= c * mean q.

Lemma mean_ge0 q : (forall x, 0 <= q x) -> 0 <= mean q.
Proof. by move=> q_ge0; apply: sumr_ge0 => x _; apply: mulr_ge0. Qed.

Lemma mean_mono q r : (forall x, q x <= r x) -> mean q <= mean r.
Proof. by move=> qr; apply: ler_sum => x _; apply: ler_wpmul2l. Qed.

Lemma mean_sum (Y : finType) (w : Y -> R) (q : Y -> X -> R) :
  mean (fun x => \sum_y w y * q y x) = \sum_y w y * mean (q y).
Proof.
rewrite /mean.
under eq_bigr => x _ do rewrite mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => y _.
by rewrite mulr_sumr; apply: eq_bigr => x _; rewrite mulrCA.
Qed.

(** Post-processing: merging or randomising outcomes keeps the level. *)
Theorem processing_keeps_level (Y : finType) (c : R) (q : Y -> X -> R) (w : Y -> R) :
  (forall y, 0 <= w y) -> (forall y, within c (q y)) ->
  within c (fun x => \sum_y w y * q y x).
Proof.
move=> w_ge0 q_within x; rewrite mean_sum mulr_sumr.
by apply: ler_sum => y _; rewrite [c * _]mulrCA; apply: ler_wpmul2l => //; apply: q_within.
Qed.

(** Any gain: whatever action an adversary takes after the outcome, its expected gain
    times the outcome's probability is at most [c] times what the best action gains without it. *)
Lemma gain_is_bounded (A : finType) (g : X -> A -> R) (c best : R) (q : X -> R) :
  (forall x a, 0 <= g x a) -> 0 <= c -> (forall x, 0 <= q x) -> within c q ->
  (forall a, \sum_x p x * g x a <= best) ->
  forall a, \sum_x p x * q x * g x a <= c * mean q * best.
Proof.
move=> g_ge0 c_ge0 q_ge0 q_within g_best a.
have scale : 0 <= c * mean q by rewrite mulr_ge0 ?mean_ge0.
apply: (@le_trans _ _ (c * mean q * \sum_x p x * g x a)); last exact: ler_wpmul2l.
rewrite mulr_sumr; apply: ler_sum => x _.
have -> : p x * q x * g x a = q x * (p x * g x a) by ring.
by apply: ler_wpmul2r; [exact: mulr_ge0 | exact: q_within].
Qed.

(** One adversary gains that much: the bet on the secret [x] whose lift is largest. *)
Lemma gain_is_reached (c : R) (q : X -> R) (x : X) :
  0 < p x -> q x = c * mean q ->
  \sum_z p z * q z * ((z == x)%:R / p x) = c * mean q * \sum_z p z * ((z == x)%:R / p x).
Proof.
move=> px qx.
rewrite (bigD1 x) //= [X in _ = _ * X](bigD1 x) //= !eqxx.
rewrite big1 ?[X in _ = _ * (_ + X)]big1; first last.
- by move=> z /negPf ->; rewrite mul0r mulr0.
- by move=> z /negPf ->; rewrite mul0r mulr0.
rewrite !addr0 qx; field; exact: lt0r_neq0.
Qed.

(** So the level is what the best adversary of any gain learns: Definition 1 of the first paper.
    The second part is the fair bet: without the outcome each of its guesses [a] gains one,
    after the outcome the guess [x0] gains [c]. *)
Theorem grosse_def_1 (c : R) (q : X -> R) (x0 : X) :
  (forall x, 0 < p x) -> 0 <= c -> (forall x, 0 <= q x) -> within c q -> q x0 = c * mean q ->
  (forall (A : finType) (g : X -> A -> R) (best : R), (forall x a, 0 <= g x a) ->
     (forall a, \sum_x p x * g x a <= best) ->
     forall a, \sum_x p x * q x * g x a <= c * mean q * best)
  /\ exists (g : X -> X -> R), [/\ forall x a, 0 <= g x a, forall a, \sum_x p x * g x a = 1
     & \sum_x p x * q x * g x x0 = c * mean q].
Proof.
move=> p_gt0 c_ge0 q_ge0 q_within reached; split.
  by move=> A g best g_ge0 g_best a; apply: gain_is_bounded.
have one a : \sum_x p x * ((x == a)%:R / p a) = 1.
  rewrite (bigD1 a) //= big1 ?addr0 => [|z /negPf ->]; last by rewrite mul0r mulr0.
  by rewrite eqxx mul1r mulfV // lt0r_neq0.
exists (fun x a => (x == a)%:R / p a); split=> //.
  by move=> x a; apply: divr_ge0; [exact: ler0n | exact: ltW].
by rewrite (gain_is_reached (p_gt0 x0) reached) one mulr1.
Qed.

(** Shattering: one attribute reaches the level, too.  The secret [x] is split into [k x] equal
    pieces, so many that none is likelier than the secret [x0] of the largest lift, which stays
    whole.  Then no value of the attribute is likelier than [p x0] before the outcome, and the
    value [x0] is [c] times as likely after it. *)
Theorem attribute_reaches (K : nat) (k : X -> nat) (c : R) (q : X -> R) (x0 : X) :
  (forall x, 0 < p x) -> (forall x, (0 < k x <= K)%N) -> k x0 = 1%N ->
  (forall x, p x <= (k x)%:R * p x0) -> q x0 = c * mean q ->
  exists w : X -> X * 'I_K -> R,
    [/\ forall x u, 0 <= w x u, forall x, \sum_u w x u = 1,
        forall u, \sum_x p x * w x u <= p x0
      & exists u, \sum_x p x * w x u = p x0 /\ \sum_x p x * q x * w x u = c * mean q * p x0].
Proof.
move=> p_gt0 k_in k_one enough reached.
have k_gt0 x : 0 < (k x)%:R :> R by rewrite ltr0n; have /andP [] := k_in x.
pose w x (u : X * 'I_K) : R := ((u.1 == x) && (u.2 < k x)%N)%:R / (k x)%:R.
have only (f : X -> R) u : \sum_x f x * w x u = f u.1 * w u.1 u.
  rewrite (bigD1 u.1) //= big1 ?addr0 // => x ne.
  by rewrite /w eq_sym (negPf ne) mul0r mulr0.
exists w; split.
- by move=> x u; rewrite /w divr_ge0 ?ler0n // ltW.
- move=> x; rewrite /w -mulr_suml -natr_sum.
  have -> : (\sum_(u : X * 'I_K) ((u.1 == x) && (u.2 < k x)))%N = k x.
    rewrite -(pair_bigA _ (fun y (i : 'I_K) => nat_of_bool ((y == x) && (i < k x)%N))) /=.
    rewrite (bigD1 x) //= [X in (_ + X)%N]big1 ?addn0 => [|y /negPf ne]; last first.
      by rewrite big1 // => i _; rewrite ne.
    under eq_bigr => i _ do rewrite eqxx /=.
    have /andP [_ kK] := k_in x.
    by rewrite -big_mkcond /= -(big_ord_widen K (fun=> 1%N) kK) sum1_card card_ord.
  by rewrite mulfV // lt0r_neq0.
- move=> u; rewrite only /w eqxx /=; case: (u.2 < k u.1)%N; last by rewrite mul0r mulr0 ltW.
  by rewrite mul1r ler_pdivr_mulr // mulrC.
have K_gt0 : (0 < K)%N by have /andP [k0 kK] := k_in x0; exact: leq_trans kK.
exists (x0, Ordinal K_gt0); rewrite !only /w /= eqxx k_one /= divr1 !mulr1.
by split=> //; rewrite reached mulrC.
Qed.

(** Composition: shares [e^-level] add up.  [a] and [b] are columns of two releases that
    are independent given the secret, and keep the shares [s] and [t].  The pair keeps the
    share [s + t - 1]. *)
Theorem shares_add_up (s t most_a most_b : R) (a b : X -> R) :
  (forall x, 0 <= a x <= most_a) -> (forall x, 0 <= b x <= most_b) ->
  s * most_a <= mean a -> t * most_b <= mean b -> 0 <= s + t - 1 ->
  forall x, (s + t - 1) * (a x * b x) <= mean (fun z => a z * b z).
Proof.
move=> a_in b_in a_share b_share st x.
have [ax_ge0 ax_le] := andP (a_in x); have [bx_ge0 bx_le] := andP (b_in x).
have ma_ge0 : 0 <= most_a by exact: le_trans ax_le.
have mb_ge0 : 0 <= most_b by exact: le_trans bx_le.
have below z : most_b * a z + most_a * b z - most_a * most_b <= a z * b z.
  have [_ az] := andP (a_in z); have [_ bz] := andP (b_in z).
  rewrite -subr_ge0.
  have -> : a z * b z - (most_b * a z + most_a * b z - most_a * most_b)
          = (most_a - a z) * (most_b - b z) by ring.
  by apply: mulr_ge0; rewrite subr_ge0.
apply: le_trans (mean_mono below).
have -> : mean (fun z => most_b * a z + most_a * b z - most_a * most_b)
        = most_b * mean a + most_a * mean b - most_a * most_b.
  rewrite /mean -[most_a * most_b in RHS]mulr1 -p_sum !mulr_sumr -big_split -sumrB /=.
  by apply: eq_bigr => z _; ring.
apply: (@le_trans _ _ ((s + t - 1) * (most_a * most_b))).
  by apply: ler_wpmul2l => //; apply: ler_pmul.
have -> : (s + t - 1) * (most_a * most_b)
        = most_b * (s * most_a) + most_a * (t * most_b) - most_a * most_b by ring.
by apply: ler_add => //; apply: ler_add; apply: ler_wpmul2l.
Qed.

(** An outcome that occurs and excludes the secrets in [S]
    leaves them a mass of at most [1 - 1 / c]. *)
Lemma excluded_mass (c : R) (q : X -> R) (S : {set X}) :
  (forall x, 0 <= q x) -> within c q -> 0 < mean q -> (forall x, x \in S -> q x = 0) ->
  1 <= c * (1 - \sum_(x in S) p x).
Proof.
move=> q_ge0 q_within q_pos q_zero.
have -> : 1 - \sum_(x in S) p x = \sum_(x | x \notin S) p x.
  by rewrite -p_sum (bigID (mem S)) /= addrC addKr.
have : mean q <= \sum_(x | x \notin S) p x * (c * mean q).
  rewrite {1}/mean (bigID (mem S)) /= big1 ?add0r => [|x xS]; last by rewrite q_zero ?mulr0.
  by apply: ler_sum => x _; apply: ler_wpmul2l.
by rewrite -mulr_suml mulrCA mulrA -{1}[mean q]mul1r ler_pmul2r // mulrC.
Qed.

(** As the paper counts: if no set of as many secrets is rarer than [T], the most likely
    others still have a mass of at least [1 / c]. *)
Theorem grosse_lem_2 (c : R) (q : X -> R) (S T : {set X}) :
  (forall x, 0 <= q x) -> 0 <= c -> within c q -> 0 < mean q ->
  (forall x, x \in S -> q x = 0) ->
  (forall U : {set X}, #|U| = #|T| -> \sum_(x in T) p x <= \sum_(x in U) p x) ->
  #|S| = #|T| -> 1 <= c * (1 - \sum_(x in T) p x).
Proof.
move=> q_ge0 c_ge0 q_within q_pos q_zero rarest same.
apply: le_trans (excluded_mass q_ge0 q_within q_pos q_zero) _.
by apply: ler_wpmul2l => //; rewrite ler_add2l ler_opp2; exact: rarest.
Qed.

End Leakage.
