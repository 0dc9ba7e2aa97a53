/** The pages for ops. */
export type { TemporalUi } from './links.ts';
export { type QueueOptions, queueRoutes } from './routes.ts';
