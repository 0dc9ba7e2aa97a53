export { createSandbox, type Sandbox, type SandboxOptions } from './create-sandbox.ts';
export { FAULT_KINDS, type FaultKind, type FaultPlanInput } from './fault-plan.ts';
export type { Decision, LedgerEntry, LedgerOperation, Operation, TransactionRecord } from './model.ts';
