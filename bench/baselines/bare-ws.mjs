import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

/** The baseline: `ws` that greets and keeps the connection, and does nothing else. */
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => socket.send('{"type":"hello"}'));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
