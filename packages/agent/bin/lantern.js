#!/usr/bin/env node
const [command, ...rest] = process.argv.slice(2);

// Not through the command line parser: a hook must be quick, and must not end with a code that lets a tool run.
if (command === 'hook') {
  let isGuarded = false;
  let hasSpoken = false;
  const say = (reason) => {
    hasSpoken = true;
    process.stderr.write(`Lanternroom did not let this run. ${reason}\n`);
  };
  const refuse = (error) => {
    if (isGuarded) return;
    say(error?.message ?? 'The hook could not start.');
    process.exit(2);
  };
  process.exitCode = 2;
  process.on('uncaughtException', refuse);
  process.on('unhandledRejection', refuse);
  process.on('exit', () => {
    if (isGuarded) return;
    if (!hasSpoken) say('The hook ended before it began.');
    process.exitCode = 2;
  });
  const { guardedHook } = await import('../dist/hook/guard.js').catch(refuse);
  isGuarded = true;
  await guardedHook(rest);
} else {
  const { hostWorld, main } = await import('../dist/main.js');
  process.exitCode = await main(process.argv.slice(2), hostWorld());
}
