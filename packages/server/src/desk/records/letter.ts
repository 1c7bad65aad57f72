import { counted, plural } from '../../core/counted.ts';
import {
  byType,
  byVerdict,
  type Day,
  MOST_A_DAY,
  sum,
  type Week,
} from '../../core/deliveries/reading/insights.ts';
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
    { text: arrivals(week, came), ...delivered(week) },
    ...(came > 0 ? busiest(week) : []),
    ...byType(week)
      .filter(({ name, n }) => name === 'alert' && n > 0)
      .map(({ n }) => ({
        text: `${were(n, 'alert')}${orMore(week.days)} among them.`,
        ...delivered(week, { type: 'alert' }),
      })),
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

function arrivals(week: Week, n: number): string {
  const came = n === 0 ? 'Nothing was delivered' : `${counted(n, 'delivery')}${orMore(week.days)} came`;
  return `${came} this week${comparison(week, n)}`;
}

/** Counting ended before the day did. */
function isCut({ delivered }: Day): boolean {
  return sum(delivered) >= MOST_A_DAY;
}

function orMore(days: readonly Day[]): string {
  return days.some(isCut) ? ' or more' : '';
}

/** Nothing is said of two numbers of which one is only known to be large. */
function comparison({ days, deliveredBefore: before }: Week, now: number): string {
  if (days.some(isCut) || before >= days.length * MOST_A_DAY) return '.';
  if (now === before) return before === 0 ? '.' : ', as many as the week before.';
  const more = Math.abs(now - before);
  return `, ${more} ${now > before ? 'more' : 'fewer'} than the week before.`;
}

/** Only when there is one: of several alike none is the busiest. */
function busiest({ days }: Week): Sentence[] {
  const n = Math.max(...days.map((day) => sum(day.delivered)));
  const alike = days.filter((day) => sum(day.delivered) === n);
  const [day] = alike;
  if (day === undefined || alike.length > 1) return [];
  const text = `The busiest day was ${DAYS[days.indexOf(day)]}, with ${n}${orMore([day])}.`;
  return [{ text, ...delivered(day) }];
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
