import { isBasic, isDiscord, isManyCased, isMixed, isReal, isSasSignature } from './proofs.ts';

/** A credential without a prefix of its own: recognised by its whole form, and mostly only beside its label. */
type LabelledKind = {
  name: string;
  /** Tested on the text just before the word; null where the form alone is enough. */
  label: RegExp | null;
  /** Anchored to the first character of the word. */
  value: RegExp;
  proof: (word: string) => boolean;
};

const LABEL_REACH = 64;
const LONGEST_WORD = 4096;
/** Between a label and its value: quotes, escaped or not, and a separator or nothing but space. */
const BETWEEN = '\\\\?["\']?\\s{0,4}(?:=>|[:=>])?\\s{0,4}\\\\?["\'`]?';
/** One cheap test that spares most words the table: it reads backwards from the word, a few characters only. */
const ANY_LABEL = new RegExp(`(?<=(?:key|token|secret|bearer|basic|sig)${BETWEEN})`, 'iy');

function beside(label: string): RegExp {
  return new RegExp(`(?:${label})${BETWEEN}$`, 'i');
}

export const LABELLED_KINDS: readonly LabelledKind[] = [
  {
    name: 'AWS secret access key',
    label: beside('secret[_ -]?(?:access[_ -]?)?key'),
    value: /^[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/,
    proof: isManyCased,
  },
  {
    name: 'Azure account key',
    label: beside('AccountKey|SharedAccessKey'),
    value: /^(?:[A-Za-z0-9+/]{86}|[A-Za-z0-9+/]{43})(?![A-Za-z0-9+/])/,
    proof: isMixed,
  },
  {
    name: 'Azure shared access signature',
    label: beside('[?&;]sig'),
    value: /^[A-Za-z0-9%+/]{43,140}$/,
    proof: isSasSignature,
  },
  {
    name: 'Azure client secret',
    label: null,
    value: /^[A-Za-z0-9_.~-]{3}\dQ~[A-Za-z0-9_.~-]{31,34}(?![A-Za-z0-9_~-])/,
    proof: isMixed,
  },
  {
    name: 'Discord bot token',
    label: null,
    value: /^[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])/,
    proof: isDiscord,
  },
  {
    name: 'Twilio auth token',
    label: beside('twilio[_-]?(?:auth[_-]?token|api[_-]?secret)'),
    value: /^[0-9A-Za-z]{32}(?![0-9A-Za-z])/,
    proof: isMixed,
  },
  {
    name: 'Heroku API key',
    label: beside('heroku[_-]?(?:api)?[_-]?key'),
    value: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])/i,
    proof: isReal,
  },
  {
    name: 'Cloudflare token',
    label: beside('(?:cloudflare|cf)[_-]?(?:api|global)?[_-]?(?:api)?[_-]?(?:token|key)'),
    value: /^[A-Za-z0-9_-]{37,40}(?![A-Za-z0-9_-])/,
    proof: isMixed,
  },
  {
    name: 'Datadog key',
    label: beside('(?:datadog|dd)[_-]?(?:api|app|application)[_-]?key'),
    value: /^[0-9a-f]{32,40}(?![0-9a-f])/,
    proof: isMixed,
  },
  {
    name: 'bearer token',
    label: beside('bearer(?:[_-]?token)?'),
    value: /^[A-Za-z0-9_~+-]{20,}/,
    proof: (word) => isMixed(word) && /\d\D*\d/.test(word),
  },
  { name: 'basic credentials', label: beside('basic'), value: /^[A-Za-z0-9+/]{16,}$/, proof: isBasic },
];

/** `label` is the key under which the whole text stands; it labels a word that starts the text. */
export function labelledKind(text: string, start: number, end: number, label: string): string | null {
  if (end - start > LONGEST_WORD) return null;
  const labelled = start === 0 ? endsInLabel(`${label}=`) : endsInLabel(text, start);
  if (!labelled && !standsAlone(text, start)) return null;
  const before = start === 0 ? `${label}=` : text.slice(Math.max(0, start - LABEL_REACH), start);
  const word = text.slice(start, end);
  const isKind = (kind: LabelledKind): boolean =>
    (kind.label === null || (labelled && kind.label.test(before))) &&
    kind.value.test(word) &&
    kind.proof(word);
  return LABELLED_KINDS.find(isKind)?.name ?? null;
}

function endsInLabel(text: string, end = text.length): boolean {
  ANY_LABEL.lastIndex = end;
  return ANY_LABEL.test(text);
}

/** The two forms that need no label, by one character each: `Q~` in Azure's, M, N or O first in Discord's. */
function standsAlone(text: string, start: number): boolean {
  const first = text.charCodeAt(start);
  return (first >= 0x4d && first <= 0x4f) || text.charCodeAt(start + 5) === 0x7e;
}
