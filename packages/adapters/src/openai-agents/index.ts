export {
  type ApprovalOptions,
  type Approvals,
  answerApprovals,
  type PersonRunOptions,
  runWithPerson,
} from './answer.ts';
export { openState, type Seal, sealState } from './seal.ts';
