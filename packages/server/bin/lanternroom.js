#!/usr/bin/env node
import { sparingly } from '../dist/bundle/start-memory.js';

const { run } = await sparingly(() => import('../dist/bundle/run.js'));
process.exitCode = await run(process.argv);
