#!/usr/bin/env node
import { sparingly } from '../dist/cli/start-memory.js';

const { run } = await sparingly(() => import('../dist/cli/run.js'));
process.exitCode = await run(process.argv);
