export type { ClockReading, SandboxControl } from './control.ts';
export { createSandbox, type Sandbox, type SandboxOptions } from './create-sandbox.ts';
export { FAULT_KINDS, type FaultKind, type FaultPlanInput, type FaultReport } from './fault-plan.ts';
export type { LedgerFilter } from './ledger.ts';
export type { Decision, LedgerEntry, LedgerOperation, Operation, TransactionRecord } from './model.ts';
