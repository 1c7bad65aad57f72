import type { Chart, ChartPoint } from '../api/types.ts';
import { toPlace } from './places.ts';
import { ToPlace } from './ToPlace.tsx';

const HEIGHT = 72;
const WIDTH = 280;
const THICK = 18;
/** A count is named in the title already; a measurement needs its unit. */
const COUNTS: ReadonlySet<string> = new Set(['deliveries', 'decisions']);

/** A small chart. The same numbers are in a list below it, and each leads to what it counts. */
export function BarChart({ chart }: { chart: Chart }) {
  const most = Math.max(1, ...chart.points.map((point) => point.value ?? 0));
  const width = WIDTH / Math.max(1, chart.points.length);
  return (
    <figure className="chart">
      <figcaption>
        {chart.title} {!COUNTS.has(chart.unit) && <span className="said">in {chart.unit}</span>}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {chart.points.map((point, index) => {
          const value = point.value ?? 0;
          const height = value === 0 ? 0 : Math.max(2, (value / most) * (HEIGHT - 4));
          return (
            <rect
              key={point.label}
              x={index * width + Math.max(0, (width - THICK) / 2)}
              width={Math.min(THICK, Math.max(1, width - 2))}
              y={HEIGHT - height}
              height={height}
            />
          );
        })}
      </svg>
      <ul style={{ gridTemplateColumns: `repeat(${chart.points.length}, minmax(0, 1fr))` }}>
        {chart.points.map((point) => (
          <li key={point.label}>
            <Point point={point} list={chart.list} />
          </li>
        ))}
      </ul>
    </figure>
  );
}

function Point({ point, list }: { point: ChartPoint; list: Chart['list'] }) {
  const place = toPlace(list, point.query);
  const value = point.value === null ? '–' : Math.round(point.value * 10) / 10;
  const text = (
    <>
      <span>{point.label}</span> <b>{value}</b>
    </>
  );
  return place === null ? <span>{text}</span> : <ToPlace place={place}>{text}</ToPlace>;
}
