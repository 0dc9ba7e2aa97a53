import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Take over a minute: begun last, each would run on alone. */
const LONG = /\/e2e\/\w+\/(adopt-many|signals|sweep|orders)\.test\.ts$/;

/** Begins the long files of a group first, where nothing is known of earlier runs. */
export default class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    const long = ({ moduleId }: TestSpecification) => (LONG.test(moduleId) ? 0 : 1);
    return sorted.sort((one, other) => group(one) - group(other) || long(one) - long(other));
  }
}
