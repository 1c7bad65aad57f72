import { connect, createServer } from 'node:net';

/** Inside a namespace: passes connections on, as told by its arguments "host:port=host:port". */
for (const told of process.argv.slice(2)) {
  const [here, there] = told.split('=').map((text) => text.split(':'));
  const server = createServer((near) => {
    const far = connect(Number(there[1]), there[0]);
    for (const socket of [near, far]) socket.on('error', () => {});
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(Number(here[1]), here[0], () => process.stdout.write(`passes on ${told}\n`));
}
