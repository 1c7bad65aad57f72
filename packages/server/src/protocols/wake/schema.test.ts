import type {
  DeliverReply as DeliverReplyWire,
  DeliverBody as DeliverWire,
  ResponseBody as ResponseWire,
  SweepBody as SweepWire,
} from '@lanternroom/sdk/wake';
import type { Static } from 'typebox';
import { expectTypeOf, test } from 'vitest';
import type { DeliverBody, DeliverReply, ResponseBody, SweepBody } from './schema.ts';

// When the two drift apart, `npm run check` fails here.
test('[W25] the published schemas and the types of the SDK say the same', () => {
  expectTypeOf<Static<typeof DeliverBody>>().toExtend<DeliverWire>();
  expectTypeOf<Static<typeof DeliverReply>>().toExtend<DeliverReplyWire>();
  expectTypeOf<Static<typeof ResponseBody>>().toExtend<ResponseWire>();
  expectTypeOf<Static<typeof SweepBody>>().toExtend<SweepWire>();
});
