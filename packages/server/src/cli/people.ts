import type { Command } from 'commander';
import { UsageError } from '../config.ts';
import { orThrow } from '../core/faults.ts';
import { addToken } from '../core/people/login/tokens.ts';
import { addPerson } from '../core/people/membership/add-person.ts';
import { nobodyWithEmail, resetByOperator } from '../core/people/membership/reset.ts';
import { closeSetup } from '../core/people/membership/setup.ts';
import { foldEmail, ROLES, type Role } from '../core/people/person.ts';
import { type Common, findSpace, inSpace, OPERATOR, print, withGround, withSpace } from './with-ground.ts';

const PASSWORD_LETTERS = 20;

type PersonOptions = Common & { role: string; name?: string; password?: string };

export function addPeopleCommands(program: Command): void {
  const person = program.command('person').description('People who read and decide');
  inSpace(
    person.command('add <email>').description('make a person; prints a password when none is given'),
    'person add ann@example.com --role owner',
  )
    .option('--role <role>', `one of ${ROLES.join(', ')}`, 'decider')
    .option('--name <name>', 'how others see them')
    .option('--password <password>', 'others can read it in the shell history: better left out')
    .action(add);
  inSpace(person.command('list').description('everybody in the space'), 'person list').action(list);
  inSpace(
    person
      .command('reset <email>')
      .description('a new password, shown once; their sessions, passkeys and tokens end'),
    'person reset ann@example.com',
  ).action(reset);
  inSpace(
    person.command('token <email>').description('a personal token (lr_…) for scripts; shown once'),
    'person token ann@example.com --name backup-script',
  )
    .option('--name <name>', 'what it is for', 'command line')
    .action(token);
}

function add(email: string, options: PersonOptions): Promise<void> {
  return withGround(options, async (ground) => {
    const role = ROLES.find((r): r is Role => r === options.role);
    if (role === undefined)
      throw new UsageError(`The role must be one of ${ROLES.join(', ')}, not ${options.role}.`);
    const space = await findSpace(ground, options);
    const password = options.password ?? ground.room.ids.letters(PASSWORD_LETTERS);
    const wanted = { space: space.id, email, name: options.name ?? null, role, password };
    const made = orThrow(await addPerson(ground.room, wanted, OPERATOR));
    if (role === 'owner') await closeSetup(ground.room);
    const shown = options.password === undefined ? { password } : {};
    print(
      options,
      { person_id: made.id, email: made.email, role, space: space.handle, ...shown },
      `Made ${made.email} (${role}) in @${space.handle}.${options.password === undefined ? ` Password, shown only now: ${password}` : ''}`,
    );
  });
}

/** Whoever can run this has the master key anyway; on the desk an owner does it with a link. */
function reset(email: string, options: Common): Promise<void> {
  return withSpace(options, async ({ room }, space) => {
    const password = room.ids.letters(PASSWORD_LETTERS);
    const person = orThrow(await resetByOperator(room, { space: space.id, email, password }, OPERATOR));
    print(
      options,
      { person_id: person.id, email: person.email, space: space.handle, password },
      `${person.email} logs in with a new password, shown only now: ${password}\nTheir sessions, passkeys and tokens have ended.`,
    );
  });
}

function list(options: Common): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const people = await ground.room.store.read(space.id, (tx) => tx.people.list());
    const shown = people.map((p) => ({ person_id: p.id, email: p.email, name: p.name, role: p.role }));
    const words = shown.map((p) => `${p.email}  ${p.role}`).join('\n');
    print(
      options,
      { space: space.handle, people: shown },
      words || 'Nobody yet. Make one: lanternroom person add EMAIL',
    );
  });
}

function token(email: string, options: PersonOptions): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const person = await ground.room.store.read(space.id, (tx) => tx.people.byEmail(foldEmail(email)));
    const owner = orThrow(person ?? nobodyWithEmail());
    const made = orThrow(await addToken(ground.room, owner, options.name ?? 'command line'));
    print(
      options,
      { token_id: made.record.id, token: made.token },
      `A token for ${owner.email}, shown only now:\n  ${made.token}`,
    );
  });
}
