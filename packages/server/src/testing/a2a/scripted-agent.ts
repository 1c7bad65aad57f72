import type { HubFrame, Laptop } from './laptop.ts';

type Message = { parts: { text?: string }[] };

/** An agent whose behaviour is in the first word of the message: what the official clients are driven against. */
export async function scripted(frame: HubFrame, laptop: Laptop): Promise<void> {
  const { taskId, type } = frame;
  if (type === 'cancel') return;
  const text = (frame.message as Message).parts[0]?.text ?? '';
  const [word] = text.split(' ');
  switch (word) {
    case 'silent':
      return;
    case 'work':
      await laptop.say({ type: 'accepted', taskId });
      return;
    case 'reply':
      await laptop.say({ type: 'message', taskId, message: { parts: [{ text: 'A plain reply.' }] } });
      return;
    case 'ask':
      await laptop.say({ type: 'input_required', taskId, text: 'Which one?' });
      return;
    case 'fail':
      await laptop.say({ type: 'failed', taskId, text: 'It broke.' });
      return;
    case 'reject':
      await laptop.say({ type: 'rejected', taskId, text: 'Not my kind of work.' });
      return;
    case 'artifacts':
      await laptop.say({ type: 'accepted', taskId });
      await laptop.say({
        type: 'artifact',
        taskId,
        artifact: {
          artifactId: 'report',
          name: 'report.md',
          parts: [{ text: '# Re', mediaType: 'text/markdown' }],
        },
      });
      await laptop.say({
        type: 'artifact',
        taskId,
        append: true,
        lastChunk: true,
        artifact: { artifactId: 'report', parts: [{ text: 'port' }] },
      });
      await laptop.say({
        type: 'artifact',
        taskId,
        artifact: {
          artifactId: 'mixed',
          parts: [
            { data: { answer: 42 } },
            { raw: 'aGVsbG8=', mediaType: 'text/plain', filename: 'hello.txt' },
          ],
        },
      });
      await laptop.say({ type: 'completed', taskId, text: 'Done.' });
      return;
    default:
      await laptop.say({ type: 'completed', taskId, text: `You said: ${text}` });
  }
}
