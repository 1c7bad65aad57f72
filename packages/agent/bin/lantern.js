#!/usr/bin/env node
import { hostWorld, main } from '../dist/main.js';

process.exitCode = await main(process.argv.slice(2), hostWorld());
