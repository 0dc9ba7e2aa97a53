import { liveManyLives } from './many-lives.ts';

liveManyLives(1, 20_000);
