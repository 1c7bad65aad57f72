export {
  type Answered,
  answerInterrupts,
  type LanternOptions,
  type Resume,
  runWithPerson,
} from './answer.ts';
export { askPerson, type PersonSays } from './ask.ts';
export type { PausedGraph } from './interrupts.ts';
export { lanternMiddleware, type OverseenTools } from './middleware.ts';
