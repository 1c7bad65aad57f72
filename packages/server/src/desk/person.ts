import type { FastifyRequest } from 'fastify';
import type { Person } from '../core/people/person.ts';

declare module 'fastify' {
  interface FastifyRequest {
    person: Person | null;
  }
}

/** The person that the door's hook has found. */
export function caller(request: FastifyRequest): Person {
  if (request.person === null) throw new Error('a desk route without a person');
  return request.person;
}
