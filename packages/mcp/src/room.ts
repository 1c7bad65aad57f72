import type { Caller } from '@lanternroom/sdk/a2a';
import type { Inbox } from '@lanternroom/sdk/akep';
import type { Wake } from '@lanternroom/sdk/wake';

/**
 * What the tools work with: the SDK's clients of one agent, with its own key. Nothing of the desk is in here, so no
 * tool can decide; an agent's key could not do so either.
 */
export interface Room {
  readonly wake: Pick<Wake, 'deliver' | 'check' | 'waitFor' | 'sweep' | 'withdraw' | 'adopt'>;
  readonly inbox: Pick<Inbox, 'page' | 'get' | 'ack' | 'subscribe'>;
  /** Another agent, by its A2A address. */
  readonly agent: (address: string) => Pick<Caller, 'send' | 'get'>;
  /** Where a person answers a delivery. */
  readonly deskUrl: (deliveryId: string) => string;
  /** True where the server itself knows whose ids are whose; elsewhere an id must be in the local log (W23). */
  readonly vouchesForIds: boolean;
  readonly version: string;
}
