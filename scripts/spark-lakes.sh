#!/usr/bin/env bash
# Compares releases of queries of Delta and Iceberg tables, and of a table of Postgres that Spark reads by JDBC, with those
# from memory under the same key, byte for byte. .ci/spark calls it, with what it has built in FOLDER/bin. Fetches what
# Spark needs for that by Maven, and is left out where there is no Maven.
#
#   DPTRAIN_POSTGRES_PORT=15432 scripts/runtimes.sh scripts/spark-lakes.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=$1
examples='basic categories'

if ! command -v mvn >/dev/null; then
  printf 'without Delta, Iceberg and JDBC: there is no mvn\n' >&2
  exit
fi
for name in io.delta:delta-spark_2.13:4.0.0 io.delta:delta-storage:4.0.0 \
  org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0 org.postgresql:postgresql:42.7.7; do
  file=$(cut -d : -f 2 <<<"$name")-$(cut -d : -f 3 <<<"$name").jar
  if [[ ! -e $dir/jars/$file ]]; then
    printf 'lakes: fetching %s\n' "$file"
    mvn -q -B dependency:copy -Dartifact="$name" -DoutputDirectory="$dir/jars"
  fi
done

# A server that knows the catalogs.
SPARK_OPTIONS="--jars $(printf '%s\n' "$dir"/jars/*.jar | paste -sd ,)
  --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions
  --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog
  --conf spark.sql.warehouse.dir=$dir/lakes/delta
  --conf spark.sql.catalog.ice=org.apache.iceberg.spark.SparkCatalog
  --conf spark.sql.catalog.ice.type=hadoop --conf spark.sql.catalog.ice.warehouse=$dir/lakes/iceberg
  --conf spark.sql.catalog.shop=org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog
  --conf spark.sql.catalog.shop.url=jdbc:postgresql://127.0.0.1:${DPTRAIN_POSTGRES_PORT:-0}/postgres
  --conf spark.sql.catalog.shop.driver=org.postgresql.Driver --conf spark.sql.catalog.shop.user=dptrain"
export SPARK_OPTIONS
rm -rf "$dir/lakes"
scripts/spark.sh up "$dir"

# Each table has the rows of an example as texts, and their places. Those of Delta and Iceberg have been changed since they
# were made, so that their files hold rows that the table does not.
tables=(houses ice.farm.houses)
cp testdata/houses.csv "$dir/rows.csv"
cat >"$dir/lakes.sql" <<SQL
CREATE TEMPORARY VIEW text USING csv OPTIONS (path '$dir/rows.csv', header 'true')
CREATE TEMPORARY VIEW rows AS SELECT monotonically_increasing_id() AS place, * FROM text
CREATE TABLE houses USING delta AS SELECT * FROM rows
CREATE TABLE ice.farm.houses USING iceberg AS SELECT * FROM rows
DELETE FROM houses WHERE place % 3 = 1
DELETE FROM ice.farm.houses WHERE place % 3 = 1
INSERT INTO houses SELECT * FROM rows WHERE place % 3 = 1
INSERT INTO ice.farm.houses SELECT * FROM rows WHERE place % 3 = 1
SQL
if [[ -n ${DPTRAIN_POSTGRES:-} ]]; then
  printf 'CREATE TABLE shop.public.houses AS SELECT * FROM rows\n' >>"$dir/lakes.sql"
  tables+=(shop.public.houses)
fi
DPTRAIN_SPARK_SQL=$dir/lakes.sql go test -C spark -count=1 -run '^TestStatementsOfFile$' ./...
for table in "${tables[@]}"; do
  printf '%s\n' "$table"
  (cd internal/audit && DPTRAIN_SPARK_TABLE=$table DPTRAIN_SPARK_EXAMPLES=$examples "$dir/bin/audit.test" -test.run '^TestQueriesAgree$' -test.v | grep -v '^=== ')
done
