import { loadavg } from 'node:os';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { machine } from './report/machine.mjs';
import { publish } from './report/publish.mjs';
import { judge, save, table } from './report/table.mjs';
import { b1 } from './rows/b1-ingest.mjs';
import { b2 } from './rows/b2-deliver.mjs';
import { b3 } from './rows/b3-wake.mjs';
import { b4 } from './rows/b4-replay.mjs';
import { b5 } from './rows/b5-sweep.mjs';
import { b6 } from './rows/b6-callbacks.mjs';
import { b7 } from './rows/b7-a2a.mjs';
import { b8 } from './rows/b8-parked.mjs';
import { b9 } from './rows/b9-postgres.mjs';
import { b10 } from './rows/b10-desk.mjs';
import { b11 } from './rows/b11-start.mjs';
import { growth, growthOnPostgres } from './rows/growth.mjs';

// rows/       one file for each row of the table: what is measured, and against what
// baselines/  what we are compared with: bare node:http, other people's software, ourselves without a store
// least/      programs that do the least that must be done to store as much, as durably, without any of our rules
// load/       who sends, receives and looks; requests/ what is sent; stores/ fills a store before the clock starts
// workers/    processes of a row that work on the core directly, without a door

const ROWS = [b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, growth, growthOnPostgres];
const FULL = { rounds: 5, times: { warmupMs: 2_000, measureMs: 5_000 } };
const QUICK = { rounds: 2, times: { warmupMs: 1_000, measureMs: 2_000 } };

process.exitCode = await main();

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    // `--publish` puts what was measured into docs/performance.md.
    options: { quick: { type: 'boolean', default: false }, publish: { type: 'boolean', default: false } },
  });
  const wanted = positionals.map((name) => name.toUpperCase());
  const unknown = wanted.filter((name) => !ROWS.some((row) => row.name === name));
  if (unknown.length > 0) {
    console.error(`There is no row ${unknown.join(', ')}. Rows: ${ROWS.map((row) => row.name).join(', ')}.`);
    return 2;
  }
  const rows = ROWS.filter((row) => wanted.length === 0 || wanted.includes(row.name));
  const started = { date: new Date().toISOString(), quick: values.quick, machine: await machine() };
  const { results, broken } = await runAll(rows, values.quick);
  console.log(`\n${table(results)}`);
  if (values.quick) console.log('\nA quick run: few short rounds and a smaller store. Trust a full one.');
  const report = { ...started, loadAtEnd: loadavg()[0], results };
  const file = save(report);
  if (values.publish)
    publish(
      report,
      ROWS.map((row) => row.name),
    );
  console.log(`\nEvery round is in ${relative(process.cwd(), file)}.`);
  if (broken.length > 0) console.log(`Not measured, the reasons are above: ${broken.join(', ')}.`);
  return broken.length === 0 && results.every((result) => result.pass) ? 0 : 1;
}

/** A row that fails does not take the others with it: they may have taken half an hour. */
async function runAll(rows, quick) {
  const results = [];
  const broken = [];
  for (const row of rows) {
    const say = (text) => console.error(`${row.name}: ${text}…`);
    say('measuring');
    try {
      const found = await row.run({ ...(quick ? QUICK : FULL), quick, say });
      results.push(...found.map((result) => judge({ row: row.name, ...result })));
    } catch (error) {
      console.error(error);
      broken.push(row.name);
    }
  }
  return { results, broken };
}
