/** Seeds of lives that once went wrong, each with what was wrong. They mean what `planLife` makes of them. */
export const KEPT_SEEDS: readonly (readonly [number, string])[] = [
  [377, 'a cancel looked for a transaction for ever, though none was there'],
  [13_396, 'a create was sent again after a reply without an id'],
  [18_145, 'a decision that a look-up had found was replaced by the screening deadline'],
  [19_594, 'the same, while its cancel was under way'],
  [36_743, 'seven waited for an answer'],
  [
    70_043,
    'a signal in a task without commands was taken after the end that came later, when both were replayed as one',
  ],
  [70_193, 'two ends were taken in another order when their tasks were replayed as one'],
  [105_437_002, 'a transaction from before a rescreening was said to be canceled with the newest one'],
  [105_448_170, 'a create was sent again beside one that the run before a reset had begun'],
  [601_371, 'the «error» of a transaction that a look-up found replaced a decision'],
  [826_625, 'the screening deadline passed while a caller waited for the answer'],
  [202_654, 'the window of a transaction that a reset run found counted from the reset'],
  [
    970_421_607,
    'a rescreen that ended late with an error replaced the decision that a look had read meanwhile',
  ],
  [921_251_799, 'a run that a reset made took what was recorded before it otherwise than the run before'],
  [122_507_308, 'a rescreen that ended late told the same decision again'],
  [61_759_961, 'a hint that came while the key was wrong was said to be read too late'],
  [
    132_624_825,
    'a person’s cancel went beside a caller’s of the same transaction, both asked while it was screened',
  ],
  [96_446_818, 'a review that turned up when the order was over was said to be one to cancel'],
  [8_752_160, 'a catch-up of the run before a reset created after a slow look, beside the new run’s'],
  [466_299_322, 'a cancel that waited for a create was said to have waited for a customer code'],
  [81_054_018, 'a cancel of a person’s, after the window, was said to have been told to nobody'],
];
