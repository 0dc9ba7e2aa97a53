import { liveManyLives } from './many-lives.ts';

liveManyLives(1, 10_000);
