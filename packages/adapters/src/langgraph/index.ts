export {
  type Answered,
  answerInterrupts,
  type LanternOptions,
  type PausedGraph,
  runWithPerson,
} from './answer.ts';
export { askPerson, type PersonSays } from './ask.ts';
export { lanternMiddleware, type OverseenTools } from './middleware.ts';
