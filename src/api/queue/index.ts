/** The pages for ops. */
export type { TemporalUi } from './links.ts';
export { queueRoutes } from './routes.ts';
