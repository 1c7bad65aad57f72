import { counted, plural } from '../../core/counted.ts';
import { byType, byVerdict, type Day, sum, type Week } from '../../core/deliveries/insights.ts';
import { type Micros, SECOND, toIso } from '../../core/time.ts';

/** The list behind a number: `GET /desk/{list}?{query}`. */
export type Behind = { list: 'deliveries' | 'history'; query: string };
export type Sentence = { text: string } & Behind;

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

export type Span = { from: Micros; to: Micros };

export function delivered({ from, to }: Span, over: Record<string, string> = {}): Behind {
  const query = new URLSearchParams({ ...over, from: toIso(from), to: toIso(to) });
  return { list: 'deliveries', query: query.toString() };
}

export function decided({ from, to }: Span, over: Record<string, string> = {}): Behind {
  const query = new URLSearchParams({ standing: 'true', ...over, from: toIso(from), to: toIso(to) });
  return { list: 'history', query: query.toString() };
}

/** The week in plain words. No praise, no ranking: what came, what was decided, how long it took. */
export function letter(week: Week): Sentence[] {
  const came = byType(week).reduce((all, { n }) => all + n, 0);
  const made = byVerdict(week).reduce((all, { n }) => all + n, 0);
  return [
    { text: `${arrivals(came)}${comparison(came, week.deliveredBefore)}`, ...delivered(week) },
    ...(came > 0 ? busiest(week) : []),
    ...byType(week)
      .filter(({ name, n }) => name === 'alert' && n > 0)
      .map(({ n }) => ({ text: `${were(n, 'alert')} among them.`, ...delivered(week, { type: 'alert' }) })),
    {
      text: made === 0 ? 'Nothing was decided.' : `${counted(made, 'decision')} ${was(made)} made.`,
      ...decided(week),
    },
    ...(made > 0 ? verdicts(week) : []),
    ...(week.medianAnswer === null
      ? []
      : [{ text: `Half of the answers took ${atMost(week.medianAnswer)}.`, ...decided(week) }]),
  ];
}

function arrivals(n: number): string {
  return n === 0 ? 'Nothing was delivered this week' : `${counted(n, 'delivery')} came this week`;
}

function comparison(now: number, before: number): string {
  if (now === before) return before === 0 ? '.' : ', as many as the week before.';
  const more = Math.abs(now - before);
  return `, ${more} ${now > before ? 'more' : 'fewer'} than the week before.`;
}

function busiest({ days }: Week): Sentence[] {
  const most = days.reduce<{ day: Day; index: number } | null>(
    (best, day, index) =>
      best !== null && sum(best.day.delivered) >= sum(day.delivered) ? best : { day, index },
    null,
  );
  if (most === null) return [];
  const n = sum(most.day.delivered);
  return [{ text: `The busiest day was ${DAYS[most.index]}, with ${n}.`, ...delivered(most.day) }];
}

function verdicts(week: Week): Sentence[] {
  const words = { approved: 'approved', redirected: 'sent back with notes', rejected: 'rejected' };
  return byVerdict(week)
    .filter(({ n }) => n > 0)
    .map(({ name, n }) => ({ text: `${n} ${was(n)} ${words[name]}.`, ...decided(week, { status: name }) }));
}

function were(n: number, noun: string): string {
  return n === 1 ? `There was 1 ${noun}` : `There were ${n} ${plural(n, noun)}`;
}

function was(n: number): string {
  return n === 1 ? 'was' : 'were';
}

/** "25 hours or less", but never "less than a minute or less". */
export function atMost(micros: Micros): string {
  const said = duration(micros);
  return said.startsWith('less') ? said : `${said} or less`;
}

/** As a person would say it. */
export function duration(micros: Micros): string {
  const minutes = Math.round(micros / (60 * SECOND));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 90) return counted(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}
