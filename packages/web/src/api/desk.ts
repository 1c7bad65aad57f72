import type {
  EventDetail,
  EventPage,
  InboxLine,
  Producer,
  RefusedEvent,
  ResumePolicy,
  Subscription,
} from './event-types.ts';
import type { MakeOptions, ProveOptions } from './passkeys.ts';
import { isSilence, unknownOutcome } from './refused.ts';
import { PATIENCE_MS, request } from './request.ts';
import type {
  Caller,
  CardFields,
  CardPreview,
  CardView,
  SigningKey,
  TaskDetail,
  TaskRow,
} from './task-types.ts';
import type {
  Agent,
  AgentPage,
  Callback,
  Detail,
  Draft,
  HistoryEntry,
  Json,
  LedgerEntry,
  Letter,
  Overview,
  Part,
  Person,
  Preferences,
  Role,
  Row,
  ServerSettings,
  Session,
  Verdict,
  Verified,
} from './types.ts';

const at = (strings: TemplateStringsArray, ...parts: string[]) =>
  strings.reduce((path, piece, i) => path + encodeURIComponent(parts[i - 1] ?? '') + piece);

export function query(values: Record<string, string | number | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

export type Filter = {
  section?: string | undefined;
  agent?: string | undefined;
  type?: string | undefined;
  q?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

export type HistoryFilter = {
  agent?: string | undefined;
  status?: string | undefined;
  standing?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};
/**
 * `ledger_seq` is the newest ledger entry at the time of reading. `complete` says of a search whether the index
 * already has the newest deliveries.
 */
export type Page = {
  deliveries: Row[];
  next_cursor: string | null;
  ledger_seq?: number;
  complete?: boolean;
};
export type Answer = { status: Verdict; feedback?: string; edited_content?: Json; content_sha256: string };

/**
 * For requests that create something new each time. When no answer comes, it may have been created all the same, with
 * a secret that nobody has seen: the person must look before trying again.
 */
async function make<T>(path: string, body: unknown): Promise<T> {
  try {
    return await request<T>('POST', path, body);
  } catch (error) {
    if (isSilence(error) && navigator.onLine) throw unknownOutcome(MAYBE_MADE);
    throw error;
  }
}

const MAYBE_MADE =
  'The server did not answer, so nobody knows whether it was done. Check whether it is there before you try again.';

/** All addresses of the desk API that the page uses. */
export const desk = {
  session: () => request<Session>('GET', '/desk/session'),
  login: (body: { email: string; password: string }) =>
    request<{ person: Person }>('POST', '/desk/session', body),
  logout: () => request<void>('DELETE', '/desk/session'),
  setUp: (body: { token: string; email: string; name?: string; password: string }) =>
    request<{ person: Person }>('POST', '/desk/setup', body),
  join: (body: { token: string; name?: string; password: string }) =>
    request<{ person: Person }>('POST', '/desk/invitations/accept', body),

  askForLogin: () => request<ProveOptions>('POST', '/desk/session/challenge', {}),
  loginByPasskey: (response: unknown) =>
    request<{ person: Person }>('POST', '/desk/session/passkey', { response }),
  resetPassword: (body: { token: string; password: string }) =>
    request<{ person: Person }>('POST', '/desk/reset', body),

  overview: () => request<Overview>('GET', '/desk/overview'),
  sat: () => request<void>('POST', '/desk/sat', {}),
  deliveries: (filter: Filter & { limit?: number; cursor?: string | null }) =>
    request<Page>('GET', `/desk/deliveries${query(filter)}`),
  delivery: (id: string) => request<Detail>('GET', at`/desk/deliveries/${id}`),
  decide: (id: string, answer: Answer) => request<Row>('POST', at`/desk/deliveries/${id}/decision`, answer),
  undo: (id: string) => request<Row>('DELETE', at`/desk/deliveries/${id}/decision`),
  read: (id: string) => request<Row>('POST', at`/desk/deliveries/${id}/read`, {}),
  snooze: (id: string, until: string | null) =>
    request<Row>('POST', at`/desk/deliveries/${id}/snooze`, { until }),
  keepDraft: (id: string, draft: Draft) => request<void>('PUT', at`/desk/deliveries/${id}/draft`, draft),
  dropDraft: (id: string) => request<void>('DELETE', at`/desk/deliveries/${id}/draft`),
  sendAgain: (job: string) => request<Callback>('POST', at`/desk/callbacks/${job}/send-again`, {}),
  rawPath: (id: string) => at`/desk/deliveries/${id}/raw`,
  imagePath: (id: string, src: string) => at`/desk/deliveries/${id}/image?src=${src}`,

  history: (filter: HistoryFilter & { cursor?: string | null }) =>
    request<{ decisions: HistoryEntry[]; next_cursor: string | null }>(
      'GET',
      `/desk/history${query({ ...filter, limit: 50 })}`,
    ),
  audit: (filter: { action?: string | undefined; subject?: string | undefined; cursor?: string | null }) =>
    request<{
      entries: LedgerEntry[];
      /** The names of the people in those lines, by actor. */
      people: Record<string, string>;
      next_cursor: string | null;
      looked_to: number;
      verified: Verified | null;
    }>('GET', `/desk/audit${query({ ...filter, limit: 100 })}`),
  verify: () => request<Verified>('GET', '/desk/audit/verify', undefined, PATIENCE_MS),

  agents: (part: Part) => request<AgentPage>('GET', `/desk/agents${query(part)}`),
  agentNames: () => request<{ names: string[] }>('GET', '/desk/agent-names'),
  agent: (id: string) => request<Agent>('GET', at`/desk/agents/${id}`),
  addAgent: (body: { agent_id: string; tier?: string; callbacks?: string[] }) =>
    make<Agent & { key: string; callback_secret: string }>('/desk/agents', body),
  addKey: (id: string, body: { tier: string; rotate: boolean }) =>
    make<{ key_id: string; key: string; others_expire_at: string | null }>(at`/desk/agents/${id}/keys`, body),
  revokeKey: (id: string, key: string) => request<unknown>('DELETE', at`/desk/agents/${id}/keys/${key}`),
  setCallbacks: (id: string, callbacks: string[]) =>
    request<unknown>('PUT', at`/desk/agents/${id}/callbacks`, { callbacks }),
  testCallback: (id: string, url: string) =>
    request<{ ok: boolean; status?: number; reason?: string }>(
      'POST',
      at`/desk/agents/${id}/callbacks/test`,
      { url },
      PATIENCE_MS,
    ),
  newCallbackSecret: (id: string) =>
    make<{ callback_secret: string; old_expires_at: string | null }>(
      at`/desk/agents/${id}/callback-secret`,
      {},
    ),
  prompt: (id: string, framework: string | null) =>
    request<{ framework: string; frameworks: string[]; text: string }>(
      'GET',
      at`/desk/agents/${id}/prompt` + query({ framework }),
    ),
  subscriptions: (id: string) =>
    request<{ subscriptions: Subscription[]; max_resume_policy: ResumePolicy }>(
      'GET',
      at`/desk/agents/${id}/subscriptions`,
    ),
  addSample: () => request<unknown>('POST', '/desk/sample', {}),
  removeSample: () => request<unknown>('DELETE', '/desk/sample'),

  inboxes: (part: Part) =>
    request<{ inboxes: InboxLine[]; next_cursor: string | null }>('GET', `/desk/inboxes${query(part)}`),
  inbox: (agent: string) => request<InboxLine>('GET', at`/desk/inboxes/${agent}`),
  events: (filter: { agent: string; cursor: string | null }) =>
    request<EventPage>('GET', `/desk/events${query({ ...filter, limit: 50 })}`),
  event: (one: EventName) =>
    request<EventDetail>(
      'GET',
      at`/desk/events/${one.agent}/${one.event}` + query({ producer_id: one.producer }),
    ),
  eventRawPath: (one: EventName) =>
    at`/desk/events/${one.agent}/${one.event}/raw` + query({ producer_id: one.producer }),
  replay: (one: EventName) =>
    make<{ offset: number }>(
      at`/desk/events/${one.agent}/${one.event}/replay` + query({ producer_id: one.producer }),
      {},
    ),
  producers: () => request<{ producers: Producer[] }>('GET', '/desk/producers'),
  addProducer: (body: { name: string; tier: string; public_key?: string }) =>
    make<Producer & { key_id: string; secret?: string }>('/desk/producers', body),
  rotateProducer: (id: string) =>
    make<{ key_id: string; secret?: string; others_expire_at: string }>(at`/desk/producers/${id}/keys`, {}),
  revokeProducerKey: (id: string, key: string) =>
    request<unknown>('DELETE', at`/desk/producers/${id}/keys/${key}`),
  refusedEvents: (id: string) =>
    request<{ refused: RefusedEvent[] }>('GET', at`/desk/producers/${id}/refused?limit=50`),

  tasks: (filter: { agent?: string | undefined; state?: string | undefined; cursor: string | null }) =>
    request<{ tasks: TaskRow[]; next_cursor: string | null }>(
      'GET',
      `/desk/tasks${query({ ...filter, limit: 50 })}`,
    ),
  task: (id: string, after: number) => request<TaskDetail>('GET', at`/desk/tasks/${id}` + query({ after })),
  cancelTask: (id: string) => request<TaskRow>('POST', at`/desk/tasks/${id}/cancel`, {}),
  taskContentPath: (id: string, content: string, as?: 'image') =>
    at`/desk/tasks/${id}/content/${content}` + query({ as }),
  callers: (id: string) => request<{ callers: Caller[] }>('GET', at`/desk/agents/${id}/callers`),
  addCaller: (id: string, body: { name: string; expires_in_days?: number }) =>
    make<Caller & { token: string }>(at`/desk/agents/${id}/callers`, body),
  revokeCaller: (id: string, caller: string) =>
    request<unknown>('DELETE', at`/desk/agents/${id}/callers/${caller}`),
  card: (id: string) => request<CardView>('GET', at`/desk/agents/${id}/card`),
  setCard: (id: string, change: Partial<CardFields>) =>
    request<CardView>('PUT', at`/desk/agents/${id}/card`, change),
  previewCard: (id: string, change: Partial<CardFields>) =>
    request<CardPreview>('POST', at`/desk/agents/${id}/card/preview`, change),
  signingKeys: () => request<{ keys: SigningKey[] }>('GET', '/desk/signing'),
  rotateSigning: () => make<{ keys: SigningKey[] }>('/desk/signing/rotate', {}),

  people: () => request<{ people: Person[] }>('GET', '/desk/people'),
  setRole: (id: string, role: Role) => request<unknown>('PUT', at`/desk/people/${id}`, { role }),
  removePerson: (id: string) => request<unknown>('DELETE', at`/desk/people/${id}`),
  resetPerson: (id: string) => make<{ link: string; expires_at: string }>(at`/desk/people/${id}/reset`, {}),
  invitations: () => request<{ invitations: Invitation[] }>('GET', '/desk/invitations'),
  invite: (body: { email: string; role: Role }) =>
    make<Invitation & { link: string }>('/desk/invitations', body),
  dropInvitation: (id: string) => request<unknown>('DELETE', at`/desk/invitations/${id}`),
  preferences: () => request<Preferences>('GET', '/desk/preferences'),
  setPreferences: (body: Partial<Preferences>) => request<Preferences>('PUT', '/desk/preferences', body),
  changePassword: (body: { current: string; password: string }) =>
    request<void>('PUT', '/desk/password', body),
  passkeys: () => request<{ passkeys: Passkey[]; origin: string | null }>('GET', '/desk/passkeys'),
  askForPasskey: () => request<MakeOptions>('POST', '/desk/passkeys/challenge', {}),
  addPasskey: (body: { name: string; response: unknown }) => request<Passkey>('POST', '/desk/passkeys', body),
  renamePasskey: (id: string, name: string) => request<void>('PUT', at`/desk/passkeys/${id}`, { name }),
  removePasskey: (id: string) => request<void>('DELETE', at`/desk/passkeys/${id}`),
  askForProof: () => request<ProveOptions>('POST', '/desk/proof/challenge', {}),
  prove: (body: { password: string } | { response: unknown }) => request<void>('POST', '/desk/proof', body),
  sessions: () => request<{ sessions: OpenSession[] }>('GET', '/desk/sessions'),
  endSession: (id: string) => request<unknown>('DELETE', at`/desk/sessions/${id}`),
  endOtherSessions: () => request<{ ended: number }>('DELETE', '/desk/sessions'),
  tokens: () => request<{ tokens: Token[] }>('GET', '/desk/tokens'),
  addToken: (name: string) => make<Token & { token: string }>('/desk/tokens', { name }),
  revokeTokens: () => request<{ revoked: number }>('DELETE', '/desk/tokens'),
  revokeToken: (id: string) => request<unknown>('DELETE', at`/desk/tokens/${id}`),
  insights: (week: string | undefined) => request<Letter>('GET', `/desk/insights${query({ week })}`),
  settings: () => request<ServerSettings>('GET', '/desk/settings'),
  setPushTargets: (push_targets: string[] | null) =>
    request<unknown>('PUT', '/desk/settings/push-targets', { push_targets }),
};

/** Two producers may use the same event id; then the producer must be named too. */
export type EventName = { agent: string; event: string; producer?: string | undefined };

export type Invitation = {
  invitation_id: string;
  email: string;
  role: Role;
  created_at: string;
  expires_at: string | null;
};
export type OpenSession = {
  session_id: string;
  created_at: string;
  expires_at: string;
  /** For example "Firefox on Linux"; null when the browser did not say. */
  device: string | null;
  current: boolean;
};
export type Passkey = {
  passkey_id: string;
  name: string;
  backed_up: boolean;
  created_at: string;
  last_used_at: string | null;
};
export type Token = {
  token_id: string;
  name: string;
  last_four: string;
  created_at: string;
  revoked_at: string | null;
};
