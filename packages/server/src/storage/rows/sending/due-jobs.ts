import { expressionBuilder } from 'kysely';
import type { Tables } from '../../tables.ts';

const { exists, not, selectFrom } = expressionBuilder<Tables, 'deliveries' | 'tasks'>();

/** No job about it is still to be sent. A push names its task where a callback names its delivery. */
export function noJobDue(
  space: 'deliveries.space_id' | 'tasks.space_id',
  id: 'deliveries.delivery_id' | 'tasks.task_id',
) {
  return not(
    exists(
      selectFrom('jobs')
        .select('jobs.job_id')
        .whereRef('jobs.space_id', '=', space)
        .whereRef('jobs.delivery_id', '=', id)
        .where('jobs.state', '=', 'due'),
    ),
  );
}
