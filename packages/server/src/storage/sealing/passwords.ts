import { hash, verify } from '@node-rs/argon2';
import type { Passwords } from '../../core/people/login/login.ts';

// OWASP's second choice for argon2id: 19 MiB, two passes. The library's default algorithm is argon2id.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export function argonPasswords(): Passwords {
  // Unknown people are checked against this, so that it takes as long as for known ones.
  let decoy: Promise<string> | null = null;
  return {
    hash: (password) => hash(password, COST),
    matches: async (stored, password) => {
      decoy ??= hash('nobody has this password', COST);
      const right = await verify(stored ?? (await decoy), password);
      return stored !== null && right;
    },
  };
}
