import type { FastifyInstance } from 'fastify';
import {
  byType,
  byVerdict,
  type Day,
  sum,
  type Week,
  weekAt,
} from '../../core/deliveries/reading/insights.ts';
import { fromIsoWeek, toIsoWeek, weekOf } from '../../core/people/sittings/iso-week.ts';
import { toWall } from '../../core/people/sittings/zone.ts';
import { SECOND, toIso } from '../../core/time.ts';
import { invalid, type Query, single } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { caller } from '../person.ts';
import { type Behind, decided, delivered, letter } from './letter.ts';

/** The weekly letter. */
export function insightRoutes(app: FastifyInstance, { room }: Shell): void {
  app.get('/desk/insights', async (request) => {
    const asked = single(request.query as Query, 'week');
    const named = asked === null ? null : toIsoWeek(asked);
    if (asked !== null && named === null) throw invalid('week', 'week must be an ISO week such as 2026-W46.');
    const week = await weekAt(
      room,
      caller(request),
      (zone) => named ?? weekOf(toWall(room.clock.now(), zone)),
    );
    return {
      week: fromIsoWeek(week.week),
      from: toIso(week.from),
      to: toIso(week.to),
      time_zone: week.timeZone,
      letter: letter(week),
      charts: charts(week),
    };
  });
}

const LABELS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

type Point = { label: string; value: number | null; query: string };

function daily(week: Week, value: (day: Day) => number | null, behind: (day: Day) => Behind): Point[] {
  return week.days.map((day, i) => ({
    label: LABELS[i] ?? '',
    value: value(day),
    query: behind(day).query,
  }));
}

/** At most five small charts; every number leads to its list. */
function charts(week: Week) {
  const minutes = ({ medianAnswer }: Day) =>
    medianAnswer === null ? null : Math.round(medianAnswer / (60 * SECOND));
  return [
    {
      name: 'deliveries',
      title: 'Deliveries a day',
      unit: 'deliveries',
      list: 'deliveries',
      points: daily(week, (day) => sum(day.delivered), delivered),
    },
    {
      name: 'types',
      title: 'What came',
      unit: 'deliveries',
      list: 'deliveries',
      points: byType(week).map(({ name, n }) => ({
        label: name,
        value: n,
        query: delivered(week, { type: name }).query,
      })),
    },
    {
      name: 'decisions',
      title: 'Decisions a day',
      unit: 'decisions',
      list: 'history',
      points: daily(week, (day) => sum(day.decided), decided),
    },
    {
      name: 'verdicts',
      title: 'What was decided',
      unit: 'decisions',
      list: 'history',
      points: byVerdict(week).map(({ name, n }) => ({
        label: name,
        value: n,
        query: decided(week, { status: name }).query,
      })),
    },
    {
      name: 'answer_minutes',
      title: 'Median time to a decision',
      unit: 'minutes',
      list: 'history',
      points: daily(week, minutes, decided),
    },
  ];
}
