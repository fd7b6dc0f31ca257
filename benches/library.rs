//! Criterion benches of the library's hot functions: deciding, reading the tip,
//! parsing a report, replaying the log. `cargo bench --features bench --bench library`.
#![allow(missing_docs, clippy::unwrap_used)]

mod scale;

use cook::service::Workspace;
use cook_core::machine;
use cook_core::report;
use cook_store::store::Replayed;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use scale::Scale;
use std::hint::black_box;

/// Opening a worktree, reading the tip, deciding; each by itself.
fn deciding(criterion: &mut Criterion) {
    let scale = Scale::initialise(1_000);
    scale.select();
    let root = scale.root();
    let mut group = criterion.benchmark_group("next");
    group.bench_function("open the worktree", |bencher| {
        bencher.iter(|| Workspace::open(black_box(&root)).unwrap());
    });
    let workspace = Workspace::open(&root).unwrap();
    group.bench_function("read the tip", |bencher| {
        bencher.iter(|| workspace.current().unwrap());
    });
    let (_, snapshot) = workspace.require().unwrap();
    let needs = machine::dispatch_needs(Some(&snapshot));
    group.bench_function("measure", |bencher| {
        bencher.iter(|| workspace.measure(&needs, Some(&snapshot)).unwrap());
    });
    let facts = workspace.measure(&needs, Some(&snapshot)).unwrap();
    group.bench_function("dispatch", |bencher| {
        bencher.iter(|| machine::dispatch(Some(black_box(&snapshot)), &facts).unwrap());
    });
    group.finish();
}

/// A role's report, from text to typed and checked.
fn reports(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("report");
    group.throughput(Throughput::Bytes(scale::REGROUND.len() as u64));
    group.bench_function("regrounder", |bencher| {
        bencher.iter(|| {
            report::parse(
                cook_core::model::Role::Regrounder,
                black_box(scale::REGROUND.as_bytes()),
            )
        });
    });
    group.finish();
}

/// Running every recorded event again.
fn replay(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10);
    for transitions in [10, 1_000] {
        let scale = Scale::initialise(10);
        scale.grow_log_to(transitions);
        let workspace = Workspace::open(&scale.root()).unwrap();
        let store = workspace.store().unwrap();
        group.throughput(Throughput::Elements(transitions));
        group.bench_with_input(
            BenchmarkId::from_parameter(transitions),
            &transitions,
            |bencher, _| {
                bencher.iter(|| {
                    let report = store.replay(|before, event, facts, actor| {
                        let step = machine::apply(before, facts, event, actor)
                            .map_err(|refusal| refusal.to_string())?;
                        Ok(Replayed {
                            snapshot: step.snapshot,
                            records: step.records,
                            rule: step.rule.id().to_owned(),
                        })
                    });
                    assert_eq!(report.unwrap().transitions, transitions);
                });
            },
        );
    }
    group.finish();
}

criterion_group!(benches, deciding, reports, replay);
criterion_main!(benches);
